// The report's beginning: reads the tables that stand in the file and mounts the page over them.
import { render } from "preact";
import "../ui/tokens.css";

const root = document.getElementById("app");
if (root) render(<main />, root);
