import { readFileSync } from "node:fs";
import type { TargetName } from "../targets/target.ts";
import type { Results } from "./baseline.ts";
import type { CaseSummary, TargetSummary } from "./summary.ts";

/** Content of docs/peers.md, from the last run of `npm run bench -- --peers`. */

const TITLES: Partial<Record<TargetName, string>> = {
  direct: "no gateway",
  bare: "a bare proxy (Bun)",
  unrecorded: "Gatehouse, everything off",
  gatehouse: "Gatehouse, everything on",
  peer: `Portkey ${versionIn("package.json", /"@portkey-ai\/gateway": "([^"]+)"/)} (npm)`,
  litellm: `LiteLLM ${versionIn("litellm.txt", /==(\S+)/)} (PyPI)`,
};
const PEERS = ["bare", "peer", "litellm"] as const satisfies readonly TargetName[];

function versionIn(file: string, pattern: RegExp): string {
  return pattern.exec(readFileSync(new URL(`../peer/${file}`, import.meta.url), "utf8"))?.[1] ?? "";
}

const isComparison = (result: Results[string]): result is CaseSummary => "targets" in result;

function row(name: TargetName, { requestsPerSecond, p50Ms, p99Ms, cpu, peakMemoryMb, peakMemoryOfDatabaseMb }: TargetSummary): string {
  const memory = peakMemoryMb + peakMemoryOfDatabaseMb;
  const cells = [
    TITLES[name] ?? name,
    requestsPerSecond.median.toFixed(0),
    p50Ms.median.toFixed(1),
    p99Ms.median.toFixed(1),
    cpu.median.toFixed(2),
    memory.toFixed(0),
  ];
  return `| ${cells.join(" | ")} |`;
}

/** Where another gateway beats Gatehouse with everything on, and by how much. */
function losses(title: string, { targets }: CaseSummary): string[] {
  const ours = targets.gatehouse;
  if (ours === undefined) return [];
  const memoryOf = (one: TargetSummary) => one.peakMemoryMb + one.peakMemoryOfDatabaseMb;
  return PEERS.flatMap((name) => {
    const theirs = targets[name];
    if (theirs === undefined) return [];
    const worse: [what: string, times: number][] = [
      ["calls a second", theirs.requestsPerSecond.median / ours.requestsPerSecond.median],
      ["p99", ours.p99Ms.median / theirs.p99Ms.median],
      ["processor time of a call", ours.cpu.median / theirs.cpu.median],
      ["memory", memoryOf(ours) / memoryOf(theirs)],
    ];
    const lost = worse.filter(([, times]) => times > 1.05).map(([what, times]) => `${what} (${times.toFixed(1)} times)`);
    return lost.length === 0 ? [] : [`- ${title}: ${TITLES[name]} is better in ${lost.join(", ")}.`];
  });
}

export function peersPage(results: Results, date: string, machine: string): string {
  const cases: [title: string, summary: CaseSummary][] = [];
  for (const [name, title] of [
    ["peers-64", "Whole answers, 64 callers"],
    ["peers-stream-64", "Streams of twenty frames, 64 callers"],
  ] as const) {
    const result = results[name];
    if (result !== undefined && isComparison(result)) cases.push([title, result]);
  }
  const tables = cases.map(([title, { targets }]) =>
    [
      `## ${title}`,
      "",
      "| | calls/s | p50 ms | p99 ms | CPU s per 10,000 calls | peak memory MB |",
      "| --- | ---: | ---: | ---: | ---: | ---: |",
      ...(Object.keys(TITLES) as TargetName[]).flatMap((name) => {
        const summary = targets[name];
        return summary === undefined ? [] : [row(name, summary)];
      }),
    ].join("\n"),
  );
  const lost = cases.flatMap(([title, summary]) => losses(title, summary));
  return `# Beside other gateways

Written by \`npm run bench -- --peers\` on ${date}: ${machine}. Client, upstream, gateway and its database share these
processors, and the upstream answers at once: read the figures against each other and not as what a machine can do. Targets take
turns in one run; medians over its rounds. [bench/README.md](../bench/README.md) says how it is measured.

- **Everything off** is Gatehouse without a ledger, without limits and without guardrails; it still checks keys and meters.
- **Everything on** is strict durability, each call's row synced before its answer ends and shipped to its PostgreSQL (whose
  processor time and memory are counted), limits on requests, tokens and rates, and guardrails for personal data, secrets, prompt
  injection and banned words on questions and answers.
- The others run as their documentation starts them, one process each: Portkey without keys or a record, LiteLLM with a master
  key and without a database. Neither keeps a record that survives it, holds a limit or looks at content here.

${tables.join("\n\n")}

## Where Gatehouse loses

${lost.length === 0 ? "Nowhere in this run." : lost.join("\n")}
`;
}
