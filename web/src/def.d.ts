// SPDX-License-Identifier: Apache-2.0
// Lists of the engine, as text (ui/def.ts); see loader in build.mjs.
declare module "*.def" {
  const text: string;
  export default text;
}
