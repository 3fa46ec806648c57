import { formatNumber } from "@gatehouse/web-kit/formats.ts";
import { Badge } from "@gatehouse/web-kit/page.tsx";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { type ShownReport, TITLES } from "./read-report.ts";

export const STATUS_TONES = { met: "good", partial: "warn", not_met: "bad", not_applicable: "neutral", no_data: "neutral" } as const;

/** Singular and plural. */
const NOUNS: Readonly<Record<string, readonly [one: string, many: string]>> = {
  audit_rows: ["audit row", "audit rows"],
  admin_log: ["entry of the admin log", "entries of the admin log"],
  configuration: ["record of the configuration", "records of the configuration"],
  checkpoints: ["checkpoint", "checkpoints"],
  retention: ["day kept", "days kept"],
  notices: ["notice shown", "notices shown"],
};

function Evidence({ evidence: { kind, ref, count } }: { readonly evidence: ShownReport["items"][number]["evidence"][number] }): ReactNode {
  const [one, many] = NOUNS[kind] ?? [kind.replaceAll("_", " "), kind.replaceAll("_", " ")];
  const name = `${formatNumber(count)} ${count === 1 ? one : many}`;
  if (kind === "audit_rows" && ref !== null)
    return (
      <Link to="/audit" search={{ q: ref, row: ref } as never} className="text-accent underline">
        {name}
      </Link>
    );
  if (kind === "admin_log" && ref !== null)
    return (
      <Link to="/admin-log" className="text-accent underline">
        {name}
      </Link>
    );
  return <span>{name}</span>;
}

function Items({ report }: { readonly report: ShownReport }): ReactNode {
  return (
    <ul className="grid gap-4">
      {report.items.map((item) => (
        <li key={item.control} className="grid break-inside-avoid gap-1 border-t border-line pt-3">
          <div className="flex flex-wrap items-center justify-between gap-2">
            <strong>
              {item.control}: {item.title}
            </strong>
            <Badge tone={STATUS_TONES[item.status]}>{item.status.replaceAll("_", " ")}</Badge>
          </div>
          <p className="text-muted">{item.reason}</p>
          <p className="flex flex-wrap gap-3 text-sm">
            {item.evidence.map((evidence, index) => (
              <Evidence key={`${evidence.kind} ${index}`} evidence={evidence} />
            ))}
          </p>
        </li>
      ))}
    </ul>
  );
}

/** The table that the CSV contains. SOC 2 has none besides its items. */
function Lines({ report: { framework, table } }: { readonly report: ShownReport }): ReactNode {
  const [first] = table;
  if (first === undefined || framework === "soc2") return null;
  const columns = Object.keys(first);
  return (
    <div className="overflow-x-auto" tabIndex={0} role="region" aria-label="Table of the report">
      <table className="w-full text-left text-sm">
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column} scope="col" className="p-1 font-semibold">
                {column.replaceAll("_", " ")}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {table.map((row) => (
            <tr key={JSON.stringify(row)} className="break-inside-avoid border-t border-line">
              {columns.map((column) => (
                <td key={column} className="p-1 align-top break-words">
                  {String(row[column] ?? "")}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** A report for screen and print: sources, time window, items and table. */
export function ReportSheet({ report }: { readonly report: ShownReport }): ReactNode {
  return (
    <article className="grid gap-4" aria-label={TITLES[report.framework]}>
      <header className="grid gap-1">
        <h3 className="text-base font-semibold">{TITLES[report.framework]}</h3>
        <p className="text-muted">
          {report.window.from.slice(0, 16).replace("T", " ")} to {report.window.to.slice(0, 16).replace("T", " ")} UTC
        </p>
        <p className="text-muted">
          {report.text.cites}, read on {report.text.checked}
        </p>
      </header>
      <Items report={report} />
      <Lines report={report} />
    </article>
  );
}
