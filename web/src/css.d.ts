// SPDX-License-Identifier: Apache-2.0
// Styles are imported for the bundle only.
declare module "*.css";
