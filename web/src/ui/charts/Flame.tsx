// SPDX-License-Identifier: Apache-2.0
// A flame graph: a call is as wide as what it and its callees cost, callers above. Click goes into a call, the rows
// above lead back out. Calls narrower than a pixel are summed into a grey strip, so that nothing is lost to sight.
import { useMemo, useState } from "preact/hooks";
import { classColor, nameHue, nameText, type Class } from "../colors";
import { shortName } from "../format";
import { useWidth } from "../hooks";
import { Frame, type FrameProps, full, type Unit, shown, useTip } from "./frame";

export interface FlameNode { name: string; value: number; self?: number; cls?: Class; children: FlameNode[] }

interface Box { node: FlameNode; x: number; w: number; depth: number; rest: number }

const ROW = 20, CHAR_PX = 6.6, MAX_DEPTH = 200;

function lay(path: FlameNode[], width: number): { boxes: Box[]; depth: number } {
  const boxes: Box[] = path.slice(0, -1).map((node, depth) => ({ node, x: 0, w: width, depth, rest: 0 }));
  const root = path[path.length - 1];
  let deepest = boxes.length;
  const stack: Box[] = root ? [{ node: root, x: 0, w: width, depth: boxes.length, rest: 0 }] : [];
  for (let box = stack.pop(); box; box = stack.pop()) {
    boxes.push(box);
    deepest = Math.max(deepest, box.depth);
    if (box.depth >= MAX_DEPTH || box.rest > 0) continue;
    const scale = box.node.value > 0 ? box.w / box.node.value : 0;
    let x = box.x, small = 0, n = 0;
    for (const child of [...box.node.children].sort((a, b) => b.value - a.value)) {
      const w = child.value * scale;
      if (w >= 1) {
        stack.push({ node: child, x, w, depth: box.depth + 1, rest: 0 });
        x += w;
      } else {
        small += child.value;
        n++;
      }
    }
    if (n > 0 && small * scale >= 0.5) stack.push({ node: { name: `${n} more`, value: small, children: [] }, x, w: small * scale, depth: box.depth + 1, rest: n });
  }
  return { boxes, depth: deepest + 1 };
}

export function Flame(props: FrameProps & {
  root: FlameNode; unit: Unit; onSelect?: (path: FlameNode[]) => void; colorOf?: (node: FlameNode) => string;
}) {
  const [box, width] = useWidth<HTMLDivElement>(800);
  const { tip, show, hide } = useTip();
  const [path, setPath] = useState<FlameNode[]>([props.root]);
  const here = path[0] === props.root ? path : [props.root];
  const { boxes, depth } = useMemo(() => lay(here, width), [here, width]);
  const whole = props.root.value || 1;
  const go = (target: Box) => {
    if (target.rest > 0) return;
    const up = here.indexOf(target.node);
    const next = up >= 0 ? here.slice(0, up + 1) : [...here, ...way(here[here.length - 1] as FlameNode, target.node)];
    setPath(next);
    props.onSelect?.(next);
  };
  return (
    <Frame {...props}>
      <div ref={box} class="ht-plot">
        <svg viewBox={`0 0 ${width} ${depth * ROW}`} width="100%" role="img" onMouseLeave={hide}
          aria-label={`${props.title}: ${props.root.children.slice(0, 6).map(node => `${node.name.slice(0, 60)} ${shown(node.value / whole, "ratio")}`).join(", ")}`}>
          {boxes.map((b, i) => {
            const cls = b.node.cls ?? "host";
            const fill = b.rest > 0 ? classColor("idle") : props.colorOf?.(b.node) ?? nameHue(b.node.name, cls);
            const room = Math.floor((b.w - 8) / CHAR_PX);
            return <g key={i} class="ht-click" onClick={() => go(b)}
              onMouseMove={e => show(e, b.node.name.slice(0, 600), [{ name: "with callees", value: full(b.node.value, props.unit) },
                { name: "of all", value: full(b.node.value / whole, "ratio") },
                ...(b.node.self !== undefined ? [{ name: "itself", value: full(b.node.self, props.unit) }] : [])])}>
              <rect x={b.x} y={b.depth * ROW} width={Math.max(0.5, b.w - (b.w > 3 ? 0.6 : 0))} height={ROW - 1} fill={fill}
                opacity={b.depth < here.length - 1 ? 0.6 : 1} />
              {room >= 4 && b.rest === 0 && <text class="ht-flame" x={b.x + 4} y={b.depth * ROW + 14} style={{ fill: nameText(cls) }}>{shortName(b.node.name, room)}</text>}
            </g>;
          })}
        </svg>
      </div>
      {tip}
    </Frame>
  );
}

// From a node down to another: the nodes between, the last included.
function way(from: FlameNode, to: FlameNode): FlameNode[] {
  for (const child of from.children) {
    if (child === to) return [child];
    const rest = way(child, to);
    if (rest.length > 0) return [child, ...rest];
  }
  return [];
}
