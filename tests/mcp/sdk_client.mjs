// SPDX-License-Identifier: Apache-2.0
// Lists and calls every tool with the TypeScript SDK: node sdk_client.mjs MODULES PROGRAM LOGDIR; prints JSON.
import { pathToFileURL } from "node:url";

const [modules, program, logdir] = process.argv.slice(2);
const at = (file) => pathToFileURL(`${modules}/@modelcontextprotocol/sdk/dist/esm/client/${file}`).href;
const { Client } = await import(at("index.js"));
const { StdioClientTransport } = await import(at("stdio.js"));

const client = new Client({ name: "tests", version: "1" });
await client.connect(new StdioClientTransport({ command: program, args: ["mcp", logdir, "--no-cache"] }));
const { tools } = await client.listTools();
const found = await client.callTool({ name: "find_runs", arguments: {} });
const run = found.structuredContent.tables[0].rows[0][0];
const known = { base: run, events: "0:1", query: "SELECT count(*) AS n FROM events", verb: "info" };
const said = { version: client.getServerVersion().name, tools: {}, errors: {} };
for (const tool of tools) {
  const given = Object.fromEntries((tool.inputSchema.required ?? []).map((name) => [name, known[name]]));
  if (tool.inputSchema.properties.run) given.run = run;
  const result = await client.callTool({ name: tool.name, arguments: given });
  said.tools[tool.name] = !result.isError && result.content[0].text.length > 0;
  if (result.isError) said.errors[tool.name] = result.content[0].text;
}
const { resources } = await client.listResources();
said.resource = (await client.readResource({ uri: resources[0].uri })).contents[0].text.length > 0;
said.prompts = (await client.listPrompts()).prompts.map((prompt) => prompt.name);
await client.close();
console.log(JSON.stringify(said));
