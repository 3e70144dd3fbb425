// SPDX-License-Identifier: Apache-2.0
export { Bars, MinMaxBars, type Bar, type RangeBar } from "./Bars";
export { Flame, type FlameNode } from "./Flame";
export { Frame, full, useTip, type TipLine, type Unit } from "./frame";
export { HeatMap } from "./HeatMap";
export { Roofline, type Mark, type Roof } from "./Roofline";
export { Lines, type Line, type PlaceMark } from "./Lines";
export { Shares, type Share } from "./Shares";
export { StackedBars, type Part } from "./StackedBars";
export { Areas, type Band, type Moment } from "./Areas";
export { Strips, type Piece, type Strip } from "./Strips";
export { Scatter } from "./Scatter";
export { Blocks, type Block } from "./Blocks";
export { Stretches, type Stretch } from "./Stretches";
export { ZoomMap, type Grid } from "./ZoomMap";
