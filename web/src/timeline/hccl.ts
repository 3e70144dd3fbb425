// SPDX-License-Identifier: Apache-2.0
// Tasks of HCCL: copies, reductions and waits on the planes of a collective. They are communication, whatever they are called, and waits are its
// pale part, as those of collectives are.
import type { Track } from "../model";
import type { Tile } from "./tile";

const COMMUNICATION = 1, NONE = 255;

// Marks the spans of a tile as it comes: of tracks of the layer those that no kind of work is known of.
export function markHccl(tracks: readonly Pick<Track, "rank" | "track" | "layer">[]): (rank: number, tile: Tile, names: ReadonlyMap<number, string>) => void {
  const known = new Set(tracks.flatMap((one) => (one.layer === "communication" ? [`${one.rank}:${one.track}`] : [])));
  return (rank, tile, names) => {
    if (known.size === 0) return;
    for (const [track, [first, end]] of tile.tracks) {
      if (!known.has(`${rank}:${track}`)) continue;
      for (let i = first; i < end; i++) {
        if (tile.work[i] !== NONE) continue;
        tile.work[i] = COMMUNICATION;
        if (/wait/i.test(names.get(tile.name[i] as number) ?? "")) tile.wait.set(i, (tile.end[i] as number) - (tile.start[i] as number));
      }
    }
  };
}
