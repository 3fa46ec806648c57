import type { ReactNode } from "react";
import type { SchemaMember } from "./document/schema-reader.ts";

/** Members with their types, and which are required. */
export function MembersTable({ caption, members }: { readonly caption: string; readonly members: readonly SchemaMember[] }): ReactNode {
  return (
    <div tabIndex={0} role="group" aria-label={caption} className="max-h-[32rem] overflow-auto rounded-lg border border-line">
      <table className="w-full text-left text-sm">
        <caption className="sr-only">{caption}</caption>
        <thead className="bg-sunken">
          <tr>
            <th scope="col" className="px-3 py-2 font-medium">
              Name
            </th>
            <th scope="col" className="px-3 py-2 font-medium">
              Type
            </th>
            <th scope="col" className="px-3 py-2 font-medium">
              What it is
            </th>
          </tr>
        </thead>
        <tbody>
          {members.map(({ name, type, required, about }, at) => (
            <tr key={at} className="border-t border-line align-top">
              <td className="px-3 py-2 font-mono text-xs">
                {name}
                {required && <span className="block font-sans text-xs text-warn">required</span>}
              </td>
              <td className="px-3 py-2 font-mono text-xs text-muted">{type}</td>
              <td className="px-3 py-2">{about}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
