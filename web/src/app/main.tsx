// SPDX-License-Identifier: Apache-2.0
// The page's beginning: styles, then the shell in its place.
import { render } from "preact";
import "../ui/tokens.css";
import "./app.css";
import { Page } from "./Shell";

const root = document.getElementById("app");
if (root) render(<Page />, root);
