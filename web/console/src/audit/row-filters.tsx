import { Button } from "@gatehouse/web-kit/button.tsx";
import { SelectField, TextField } from "@gatehouse/web-kit/field.tsx";
import { X } from "lucide-react";
import { type ReactNode, useEffect, useState } from "react";
import { boundsOf, localMoment, type SearchPeriod, PERIODS } from "./moments.ts";
import { type ExplorerSearch, rowSearchOf } from "./row-search.ts";

const TYPES = ["llm", "mcp", "virtual_mcp", "a2a", "skill", "batch", "oauth", "portal"];

/** Filters of the audit explorer. Text applies once it is entered, choices apply at once. */
export function RowFilters({
  search,
  onChange,
}: {
  readonly search: ExplorerSearch;
  readonly onChange: (next: ExplorerSearch) => void;
}): ReactNode {
  const [text, setText] = useState(search.q ?? "");
  useEffect(() => setText(search.q ?? ""), [search.q]);
  const { q: _text, row: _row, ...choices } = search;
  const withText = text.trim() === "" ? {} : { q: text.trim() };
  const choose = (next: Readonly<Record<string, unknown>>) => onChange(rowSearchOf({ ...choices, ...withText, ...next }));
  return (
    <form
      role="search"
      className="grid grid-cols-1 gap-3 sm:grid-cols-2 sm:items-end lg:grid-cols-4"
      onSubmit={(event) => {
        event.preventDefault();
        onChange({ ...choices, ...withText });
      }}
    >
      <TextField
        label="Text in ids, names and errors"
        type="search"
        value={text}
        maxLength={200}
        onChange={(event) => setText(event.target.value)}
      />
      <SelectField
        label="Kind"
        value={search.type ?? ""}
        choices={[{ value: "", label: "All kinds" }, ...TYPES.map((value) => ({ value, label: value }))]}
        onChange={({ target }) => choose({ type: target.value })}
      />
      <SelectField
        label="Outcome"
        value={search.outcome ?? ""}
        choices={[
          { value: "", label: "All outcomes" },
          { value: "ok", label: "Served" },
          { value: "refused", label: "Refused or failed" },
          { value: "blocked", label: "Blocked by a guardrail" },
          { value: "redacted", label: "Redacted by a guardrail" },
          { value: "warned", label: "Warned by a guardrail" },
        ]}
        onChange={({ target }) => choose({ outcome: target.value })}
      />
      <SelectField
        label="Period"
        value=""
        choices={[{ value: "", label: "From and until" }, ...Object.entries(PERIODS).map(([value, label]) => ({ value, label }))]}
        onChange={({ target }) => choose(target.value === "" ? {} : boundsOf(target.value as SearchPeriod, new Date()))}
      />
      <TextField
        label="From"
        type="datetime-local"
        value={localMoment(search.from)}
        onChange={({ target }) => choose({ from: target.value })}
      />
      <TextField
        label="Until"
        type="datetime-local"
        value={localMoment(search.to)}
        onChange={({ target }) => choose({ to: target.value })}
      />
      <Button type="submit" look="primary">
        Search
      </Button>
      {search.where !== undefined && (
        <ul aria-label="Only rows with" className="flex flex-wrap gap-2 sm:col-span-full">
          {Object.entries(search.where).map(([name, value]) => (
            <li key={name}>
              <Button
                icon={X}
                aria-label={`No longer only ${name} ${value}`}
                onClick={() => {
                  const { [name]: _gone, ...where } = search.where ?? {};
                  choose({ where });
                }}
              >
                <span dir="auto" className="max-w-52 truncate sm:max-w-80">
                  {name}: {value}
                </span>
              </Button>
            </li>
          ))}
        </ul>
      )}
    </form>
  );
}
