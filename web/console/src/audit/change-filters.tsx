import { Button } from "@gatehouse/web-kit/button.tsx";
import { EnteredTextField, TextField } from "@gatehouse/web-kit/field.tsx";
import { X } from "lucide-react";
import type { ReactNode } from "react";
import type { ChangeSearch } from "./change-search.ts";
import { localMoment } from "./moments.ts";

const TEXTS = [
  ["action", "Action", "update"],
  ["resource", "Kind of record", "api-keys"],
] as const;
const NARROWED = [
  ["id", "record"],
  ["actor", "administrator"],
] as const;

/** Filters of the admin log. Text applies once it is entered. */
export function ChangeFilters({
  search,
  onChange,
}: {
  readonly search: ChangeSearch;
  readonly onChange: (next: Readonly<Record<string, unknown>>) => void;
}): ReactNode {
  return (
    <form role="search" className="grid grid-cols-1 gap-3 sm:grid-cols-2 lg:grid-cols-4" onSubmit={(event) => event.preventDefault()}>
      {TEXTS.map(([name, label, placeholder]) => (
        <EnteredTextField
          key={name}
          label={label}
          placeholder={placeholder}
          maxLength={100}
          value={search[name] ?? ""}
          onEnter={(value) => onChange({ [name]: value })}
        />
      ))}
      <TextField
        label="From"
        type="datetime-local"
        value={localMoment(search.from)}
        onChange={({ target }) => onChange({ from: target.value })}
      />
      <TextField
        label="Until"
        type="datetime-local"
        value={localMoment(search.to)}
        onChange={({ target }) => onChange({ to: target.value })}
      />
      {NARROWED.some(([name]) => search[name] !== undefined) && (
        <ul aria-label="Only changes of" className="flex flex-wrap gap-2 sm:col-span-full">
          {NARROWED.map(([name, noun]) =>
            search[name] === undefined ? null : (
              <li key={name}>
                <Button icon={X} aria-label={`No longer only ${noun} ${search[name]}`} onClick={() => onChange({ [name]: "" })}>
                  <span dir="auto" className="max-w-52 truncate sm:max-w-80">
                    {noun}: {search[name]}
                  </span>
                </Button>
              </li>
            ),
          )}
        </ul>
      )}
    </form>
  );
}
