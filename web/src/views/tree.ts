// SPDX-License-Identifier: Apache-2.0
// Flat rows with paths as a tree, for flame graphs and module trees.
import type { FlameNode } from "../ui/charts";

export type ClassOf = (name: string) => FlameNode["cls"];

// Each row's own value at the end of its path; inner nodes are as wide as what is inside them.
export function treeOf(
  rows: Iterable<{ path: readonly string[]; self: number }>,
  name: string,
  classOf: ClassOf,
): FlameNode {
  const root: FlameNode = { name, value: 0, self: 0, children: [] };
  const index = new Map<FlameNode, Map<string, FlameNode>>();
  for (const row of rows) {
    let node = root;
    node.value += row.self;
    for (const part of row.path) {
      let children = index.get(node);
      if (!children) index.set(node, (children = new Map<string, FlameNode>()));
      let child = children.get(part);
      if (!child) {
        child = { name: part, value: 0, self: 0, cls: classOf(part), children: [] };
        children.set(part, child);
        node.children.push(child);
      }
      child.value += row.self;
      node = child;
    }
    node.self = (node.self ?? 0) + row.self;
  }
  return root;
}
