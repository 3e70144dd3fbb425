// How computing and communicating share each rank's steps, what communication waits for, and the devices.
import { classColor } from "../ui/colors";
import { StackedBars } from "../ui/charts";
import { useApp } from "../app/context";
import { Ask, Head, ParamSwitch, UrlSwitch, VerbTable } from "../app/parts";
import { go, linkWith } from "../app/route";
import type { Row, Rows } from "../app/rows";
import { DISTRIBUTED_PARTS, stackOf } from "./stacks";

const BY = [
    { value: "rank", label: "ranks" },
    { value: "step", label: "ranks and steps" },
];

export const place = (rows: Rows, row: Row) => {
    const step = rows.cell(row, "step");
    return `rank ${rows.text(row, "rank")}${step === null ? "" : `, step ${step}`}`;
};

export function Distributed() {
    const { route } = useApp();
    const by = route.query.by ?? "rank";
    const view = route.query.view ?? "overlap";
    const click = (rows: Rows, i: number) => {
        const row = rows.all[i];
        if (row)
            go(linkWith(route, { rank: rows.text(row, "rank"), step: rows.text(row, "step") || route.query.step }));
    };
    return (
        <>
            <Head
                title="Distributed"
                lead="How computing and communicating share each rank's steps, and what communication waits for."
            >
                <UrlSwitch name="by" label="bars:" options={BY} />
            </Head>
            <div class="pair">
                <section class="block chart">
                    <Ask verb="distributed" query={{ by }}>
                        {(rows) => (
                            <StackedBars
                                title="Computing and communicating"
                                of="parts of the steps"
                                categories={rows.all.map((row) => place(rows, row))}
                                series={stackOf(rows, DISTRIBUTED_PARTS)}
                                unit="ns"
                                onClick={(i) => click(rows, i)}
                            />
                        )}
                    </Ask>
                </section>
                <section class="block chart">
                    <Ask verb="distributed" query={{ view: "waiting", by }}>
                        {(rows) => (
                            <StackedBars
                                title="Transfer and synchronising"
                                of="transfer lasts as long as the fastest rank needs"
                                categories={rows.all.map((row) => place(rows, row))}
                                unit="ns"
                                onClick={(i) => click(rows, i)}
                                series={[
                                    {
                                        name: "transfer",
                                        color: classColor("communication"),
                                        values: rows.all.map((row) => rows.number(row, "transfer_ns")),
                                    },
                                    {
                                        name: "synchronising",
                                        color: classColor("comm_pale"),
                                        values: rows.all.map((row) => rows.number(row, "synchronizing_ns")),
                                    },
                                ]}
                            />
                        )}
                    </Ask>
                </section>
            </div>
            <VerbTable
                url
                verb="distributed"
                query={{ view, by }}
                tools={<ParamSwitch verb="distributed" name="view" label="show:" />}
            />
            <VerbTable verb="steps" query={{ view: "gpu" }} title="Devices" />
        </>
    );
}
