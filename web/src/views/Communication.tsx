// Collectives over ranks: how much of their time is waiting, how fast they move data, and every call.
import { classColor } from "../ui/colors";
import { StackedBars } from "../ui/charts";
import { useApp } from "../app/context";
import { Head } from "../app/Head";
import { Ask, ParamSwitch, VerbTable } from "../app/parts";
import { go, linkWith } from "../app/route";
import type { Row, Rows } from "../app/rows";

const label = (rows: Rows, row: Row) => `${rows.text(row, "kind")} ${rows.text(row, "group")}`;

function Waiting() {
  const { route } = useApp();
  return (
    <section class="block chart">
      <Ask verb="collectives">
        {(rows) => {
          const top = rows.all.slice(0, 16);
          const values = (column: string) => top.map((row) => rows.number(row, column));
          return (
            <StackedBars
              title="Waiting and transfer"
              of="duration of the calls on all ranks, by group and kind; click to see the calls"
              categories={top.map((row) => label(rows, row))}
              unit="ns"
              series={[
                { name: "transfer", color: classColor("communication"), values: values("transfer_ns") },
                {
                  name: "waiting for the last rank",
                  color: classColor("comm_pale"),
                  values: values("wait_ns"),
                },
              ]}
              onClick={(i) => {
                const row = top[i];
                if (row)
                  go(
                    linkWith(route, {
                      view: "calls",
                      kind: rows.text(row, "kind"),
                      group: rows.text(row, "group"),
                    }),
                  );
              }}
            />
          );
        }}
      </Ask>
    </section>
  );
}

export function Communication() {
  const { route } = useApp();
  const { kind, group } = route.query;
  const keep =
    kind || group
      ? (rows: Rows, row: Row) =>
          (!kind || rows.text(row, "kind") === kind) && (!group || rows.text(row, "group") === group)
      : undefined;
  return (
    <>
      <Head verb="collectives"
        title="Communication"
        lead="What collectives wait for and how fast they move data. Waiting is until the last rank has started; transfer is the rest."
      />
      <Waiting />
      {keep ? (
        <p class="filter-note">
          Only {kind} {group}{" "}
          <button type="button" class="pill" onClick={() => go(linkWith(route, { kind: null, group: null }))}>
            show all
          </button>
        </p>
      ) : null}
      <VerbTable
        url
        verb="collectives"
        query={{ view: route.query.view }}
        keep={keep}
        tools={<ParamSwitch verb="collectives" name="view" label="show:" />}
      />
      <VerbTable verb="distributed" query={{ view: "operations" }} title="Operations of each rank" />
    </>
  );
}
