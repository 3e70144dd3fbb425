// The trace view. Until it is drawn, it says what it was asked for.
import type { Run } from "../model";

export function Timeline(props: {
  run: Run;
  state: Record<string, string>;
  onState: (change: Record<string, string | null>, replace?: boolean) => void;
}) {
  return <p>Timeline of {props.run.name}: {props.state.event ?? ""}</p>;
}
