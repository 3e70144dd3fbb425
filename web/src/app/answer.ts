// SPDX-License-Identifier: Apache-2.0
// A question of one view, asked again when its key changes; tables have useTable.
import { useEffect, useState } from "preact/hooks";

// What an asynchronous question answered, of the latest that was asked.
export function useAnswer<T>(key: string | null, ask: (signal: AbortSignal) => Promise<T>, wait = 0): [T | null, string | null] {
  const [state, setState] = useState<{ key: string | null; answer: T | null; problem: string | null }>({ key: null, answer: null, problem: null });
  useEffect(() => {
    if (key === null) return;
    const stop = new AbortController();
    const timer = setTimeout(() => {
      ask(stop.signal).then(
        (answer) => setState({ key, answer, problem: null }),
        (error: unknown) => { if (!stop.signal.aborted) setState({ key, answer: null, problem: error instanceof Error ? error.message : String(error) }); });
    }, wait);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [key]);
  return state.key === key && key !== null ? [state.answer, state.problem] : [null, null];
}
