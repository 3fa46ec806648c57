import { CopyButton } from "@gatehouse/web-kit/copy-button.tsx";
import { formatMoment } from "@gatehouse/web-kit/formats.ts";
import { Facts, Panel } from "@gatehouse/web-kit/page.tsx";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { AdminApi } from "../api/admin-api.generated.ts";
import { memberLabel } from "../records/api-schema.ts";
import { RECORD_KINDS } from "../records/record-kinds.ts";
import { ReferenceLink } from "../records/reference-link.tsx";

export type ChangeEntry = AdminApi["GET /v1/admin/admin-log"]["answer"]["entries"][number];

const membersOf = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};

const shown = (value: unknown): string =>
  value === undefined || value === null ? "none" : typeof value === "string" ? value : JSON.stringify(value);

/** The record's display name after the change, or before it if it was deleted. */
export function changedName({ before, after }: ChangeEntry): string | undefined {
  for (const record of [membersOf(after), membersOf(before)])
    for (const member of ["name", "username", "provider_key", "email"]) {
      const name = record[member];
      if (typeof name === "string" && name !== "") return name;
    }
  return undefined;
}

/** Members whose values differ, in the order of the record after the change. */
function differencesOf({ before, after }: ChangeEntry): readonly (readonly [member: string, before: string, after: string])[] {
  const [old, now] = [membersOf(before), membersOf(after)];
  const members = [...new Set([...Object.keys(now), ...Object.keys(old)])];
  return members
    .filter((member) => JSON.stringify(old[member]) !== JSON.stringify(now[member]))
    .map((member) => [member, shown(old[member]), shown(now[member])]);
}

/** Entries name kinds of records as their API paths do, except these. */
const ADDRESSES: Readonly<Record<string, string>> = { models: "llms", "guardrail-configs": "guardrails/configs" };

function slugOf(resource: string): string | undefined {
  const path = `/v1/admin/${ADDRESSES[resource] ?? resource}`;
  return RECORD_KINDS.find((kind) => kind.path === path)?.slug;
}

const value = (text: string) => (
  <span dir="auto" className="break-all whitespace-pre-wrap">
    {text}
  </span>
);

/** One change: who made it, from where, and the differences. */
export function ChangeDetails({ entry }: { readonly entry: ChangeEntry }): ReactNode {
  const differences = differencesOf(entry);
  const slug = slugOf(entry.resource);
  const hasBefore = entry.before !== null;
  return (
    <Panel
      title={`${memberLabel(entry.action)}: ${changedName(entry) ?? entry.resource}`}
      actions={<CopyButton text={JSON.stringify(entry, null, 2)} label="Copy the entry as JSON" doneLabel="Copied" />}
    >
      <div className="grid grid-cols-1 gap-4">
        <Facts
          items={[
            ["When", formatMoment(entry.at)],
            [
              "Who",
              <span key="who" className="flex flex-wrap items-baseline gap-x-3">
                {value([entry.actor_username ?? "the gateway", entry.actor_role].filter((part) => part !== null).join(", "))}
                {entry.actor_id !== null && (
                  <Link
                    to="/admin-log"
                    search={{ actor: entry.actor_id } as never}
                    className="inline-block py-0.5 text-sm text-accent underline"
                  >
                    All their changes
                  </Link>
                )}
              </span>,
            ],
            ...(entry.client_ip === null ? [] : [["From", value(entry.client_ip)] as const]),
            [
              memberLabel(entry.resource.replaceAll("-", "_")),
              <span key="record" className="flex flex-wrap items-baseline gap-x-3">
                {value(entry.resource_id ?? "none")}
                {slug !== undefined && entry.resource_id !== null && <ReferenceLink slug={slug} id={entry.resource_id} />}
                {entry.resource_id !== null && (
                  <Link
                    to="/admin-log"
                    search={{ id: entry.resource_id } as never}
                    className="inline-block py-0.5 text-sm text-accent underline"
                  >
                    Record history
                  </Link>
                )}
              </span>,
            ],
            ["Request", value(entry.request_id ?? "none")],
            ["In the chain", entry.chain_seq === null ? "from before it" : String(entry.chain_seq)],
          ]}
        />
        {differences.length > 0 && (
          <div className="overflow-x-auto">
            <table className="w-full text-sm">
              <thead>
                <tr className="border-b border-line text-start text-muted">
                  <th className="py-1 pe-4 text-start font-medium">Member</th>
                  {hasBefore && <th className="py-1 pe-4 text-start font-medium">Before</th>}
                  <th className="py-1 text-start font-medium">{hasBefore ? "After" : "Value"}</th>
                </tr>
              </thead>
              <tbody>
                {differences.map(([member, before, after]) => (
                  <tr key={member} className="border-b border-line align-top last:border-0">
                    <th scope="row" className="py-1 pe-4 text-start font-normal text-muted">
                      {memberLabel(member)}
                    </th>
                    {hasBefore && <td className="py-1 pe-4">{value(before)}</td>}
                    <td className="py-1">{value(after)}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        )}
      </div>
    </Panel>
  );
}
