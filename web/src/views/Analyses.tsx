// SPDX-License-Identifier: Apache-2.0
// Every analysis of the registry with the question it answers.
import { useState } from "preact/hooks";
import { useApp } from "../app/context";
import { Head } from "../app/Head";
import { linkTo } from "../app/route";

export function Analyses() {
  const { route, analyses, base } = useApp();
  const [find, setFind] = useState("");
  const wanted = find.trim().toLowerCase();
  const all = analyses.analyses.filter(
    (one) => one.n_sets > 0 && `${one.name} ${one.title} ${one.question}`.toLowerCase().includes(wanted),
  );
  const groups = [...new Set(all.map((one) => one.group_title))];
  return (
    <>
      <Head
        title="All analyses"
        lead={`${all.length} questions that can be asked of this run, each with its options, table and download.`}
      >
        <input
          type="search"
          placeholder="Filter"
          aria-label="Filter analyses"
          value={find}
          onInput={(event) => setFind(event.currentTarget.value)}
        />
      </Head>
      {groups.map((group) => (
        <section class="block" key={group}>
          <h2>{group}</h2>
          <table class="plain analyses">
            <tbody>
              {all
                .filter((one) => one.group_title === group)
                .map((one) => (
                  <tr key={one.name}>
                    <td>
                      <a href={linkTo(route, "analysis", {}, one.name)}>{one.name}</a>
                    </td>
                    <td>
                      {one.question}
                      {one.n_sets > 1 && !base ? (
                        <span class="dim"> Choose a run to compare with at the top.</span>
                      ) : null}
                    </td>
                  </tr>
                ))}
            </tbody>
          </table>
        </section>
      ))}
    </>
  );
}
