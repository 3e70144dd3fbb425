// The page's beginning: mounts the shell.
import { render } from "preact";
import "../ui/tokens.css";

function App() {
  return <main>Holotrace</main>;
}

const root = document.getElementById("app");
if (root) render(<App />, root);
