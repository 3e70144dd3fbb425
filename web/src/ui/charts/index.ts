export { Bars, MinMaxBars, type Bar, type RangeBar } from "./Bars";
export { Flame, type FlameNode } from "./Flame";
export { Frame, useTip, type TipLine, type Unit } from "./frame";
export { HeatMap } from "./HeatMap";
export { Roofline, type Mark, type Roof } from "./Roofline";
export { Lines, type Line } from "./Lines";
export { Shares, type Share } from "./Shares";
export { StackedBars, type Part } from "./StackedBars";
