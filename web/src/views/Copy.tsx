// SPDX-License-Identifier: Apache-2.0
// A button that copies a text, and says when it has.
import { useState } from "preact/hooks";

// Pages that are served without encryption, or in a frame of another one, have no clipboard of their own.
async function copyText(text: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const box = document.createElement("textarea");
    box.value = text;
    document.body.append(box);
    box.select();
    document.execCommand("copy");
    box.remove();
  }
}

export function Copy(props: { text: string; what: string }) {
  const [done, setDone] = useState("");
  return (
    <button type="button" class="pill" title={`Copy ${props.what}`} onClick={() => void copyText(props.text).then(() => setDone(props.text))}>
      {done === props.text ? "copied" : "copy"}
    </button>
  );
}
