// SPDX-License-Identifier: Apache-2.0
// What the server says and the page shows: the shapes of the HTTP interface (serve/openapi.json describes the
// same for others). Everything is computed by the analyses; the page only formats. Times are integers of
// nanoseconds. JSON numbers beyond 2^53 come as texts of digits in columns of type uint64, time and event.

export type ColumnType =
  | "int64" | "uint64" | "float64" | "string" | "bool"
  | "time" | "duration" | "duration_float" | "bytes" | "ratio" | "event";

export interface Column {
  name: string;            // lower snake case with its unit as suffix
  label?: string;          // of tables: the name as a heading has it, without the unit
  type: ColumnType;
  unit: string | null;
  role: "key" | "measure" | "detail";
  sentence: string;        // what the number is, and of what: the tooltip
  added?: "plain" | "signed"; // by the page, not by the engine; signed: more has a plus
}

// A cell: null is "no value". Events are texts "rank:row".
export type Cell = string | number | boolean | null;

export interface Table {
  title: string;
  method: string;          // one line: what was looked at
  columns: Column[];
  rows: Cell[][];
  notes: string[];
  findings?: TableFinding[]; // the notes as data; files of older reports lack them
  hidden: number;          // rows that top or offset left out
  bar: string | null;      // the column of shares to draw as bars
  check_failed?: boolean;
}

// What the rows of a table say together, or what to know about them; of plain sentences kind is "note".
export interface TableFinding {
  severity: "info" | "warning";
  kind: string;
  state: "found" | "none" | "unknown" | null;
  sentence: string;
  values: Readonly<Record<string, Cell>>;
  next: { verb: string; args: Readonly<Record<string, string>> } | null;
}

export interface Param {
  name: string;            // as on the command line, without the dashes
  type: ColumnType;
  default: string | null;
  help: string;
  choices: string[] | null;
}

export interface Schema { name: string; columns: Column[] }

export interface Analysis {
  name: string; group: string; group_title: string; title: string; question: string; method: string;
  params: Param[];
  schemas: Schema[]; chosen_by: string | null;
  page_view: string | null; // the view that shows it, of views/registry.ts; null: its page below All analyses
  n_sets: number;          // 2: needs a run to compare with
  lists_events: boolean;
}

export interface Analyses { version: string; common: Param[]; analyses: Analysis[] }

// loading: some files are not read yet; what is read is shown. failed: nothing could be read.
export type State = "waiting" | "loading" | "ready" | "failed";

export interface FileState {
  path: string;            // below the log directory
  bytes: number;
  done: number;            // bytes read so far
  state: State;
  error: string | null;    // message with file, offset and hint
}

export interface Worker {
  name: string;            // as in the file's name
  span: string;            // "" when the run has one only
  rank: number | null;     // once read
  vendor: "gpu" | "npu" | "cpu" | null;
  device: string | null;
  events: number | null;
  files: FileState[];
}

export interface Run {
  id: string;              // for URLs: stable over rescans
  name: string;
  state: State;
  spans: string[];
  workers: Worker[];
  // of the ranks that are read: what `health` found. level tells the colour of the dot.
  health: { level: "good" | "notes" | "lost" | "unknown"; notes: string[] };
  generation: number;      // grows when more of the run is read: ask tables again
}

// A store of the numbers of many runs (holotrace history).
export interface History {
  id: string;              // for URLs
  name: string;            // its path below the log directory
  generation: number;      // another one whenever the file is: ask again
}

export interface Runs { logdir: string; generation: number; scanning: boolean; runs: Run[]; histories: History[] }

export interface Problem { error: string; file: string | null; offset: number | null; hint: string | null }

export interface Track {
  rank: number; track: number;      // ask tiles by these
  process: string; thread: string;  // names as shown
  pid: string; tid: string;
  device: number | null;            // of a stream
  word?: "NPU";                     // what the device is, where it is no GPU; the page's own
  layer: string | null;             // of NPUs: framework, CANN, hardware, communication, overlap
  lanes: number; spans: number;
  first_ns: number; last_ns: number;
}

export interface Tracks {
  generation: number;
  from_ns: number; to_ns: number;
  aligned: boolean;                 // times of all ranks can be compared
  ranks: RankClock[];
  kinds: string[];                  // what the kinds of a tile's spans are called
  tracks: Track[]; steps: Step[];
}
export interface RankClock {
  rank: number; from_ns: number; to_ns: number;
  moved_ns: number;                 // by how much collectives say that the file's clock is off
  uncertainty_ns: number | null;    // how far they leave that open
}
export interface Step { rank: number; name: string; start_ns: number; end_ns: number }

// An event and where it stands; of what is no span the id alone.
export interface EventPlace {
  id: string;
  name?: string; kind?: string; class?: string | null;
  rank?: number; track?: number; lane?: number;
  start_ns?: number; end_ns?: number;
  wait_ns?: number;                 // of a collective: at its start, for the last rank
}
export interface EventLink extends EventPlace { link: string; outgoing: boolean }
export interface EventDetails extends EventPlace {
  fields: [string, string][];       // everything about it, as texts
  stack: EventLink[];               // what is around it, the innermost first
  links: EventLink[];
}
export interface Flow { link: string; from: EventPlace; to: EventPlace }
export interface Flows { flows: Flow[] }
// In order of time, from where the search begins; before: how many matches are earlier than the earliest of them.
export interface Found { total: number; before: number; events: EventPlace[] }
export interface Sums { classes: Table; names: Table }

// A result drawn into the timeline: curves, each point [time, least, most, last] of what happens within a pixel, or
// spans [start, end, class, name, event].
export type CurvePoint = [number, number, number, number];
export type OverlaySpan = [number, number, string, string, string | null];
export interface Overlay {
  unit: string | null;
  // range: over the stretch that was asked for, the mean weighted by time; null where nothing holds there, or for no time
  series: { name: string; max: number; points: CurvePoint[]; range?: { min: number; max: number; mean: number | null } | null }[];
  spans: OverlaySpan[];
}
