import { ComboboxField } from "@gatehouse/web-kit/combobox.tsx";
import { CheckboxField, TextField } from "@gatehouse/web-kit/field.tsx";
import { formatNumber } from "@gatehouse/web-kit/formats.ts";
import { type ReactNode, useState } from "react";
import { useChoices } from "./choices.ts";
import type { RecordKind } from "./record-kind.ts";
import { referenceTo, shownName } from "./records-client.ts";

interface ReferenceProps {
  readonly kind: RecordKind;
  readonly label: string;
  readonly hint?: string | undefined;
  readonly error?: string | undefined;
}

const detailOf = (record: Readonly<Record<string, unknown>>) => {
  const shown = record["display_name"] ?? record["description"];
  return typeof shown === "string" ? { detail: shown.slice(0, 80) } : {};
};

/** Selects one record of another kind by name. */
export function ReferenceField({
  kind,
  value,
  onChange,
  hint,
  ...rest
}: ReferenceProps & { readonly value: string | null; readonly onChange: (value: string | null) => void }): ReactNode {
  const [text, setText] = useState("");
  const choices = useChoices(kind, value === null ? [] : [value], text);
  const items = choices.items.map((record) => ({ value: referenceTo(kind, record), label: shownName(kind, record), ...detailOf(record) }));
  return (
    <ComboboxField
      {...rest}
      {...(hint === undefined ? {} : { hint })}
      items={items}
      value={value}
      onChange={onChange}
      onSearch={setText}
      emptyLabel={choices.isPending ? "Loading" : `There is no such ${kind.noun}`}
      openLabel={`Show each ${kind.noun}`}
    />
  );
}

const FILTERED_FROM = 12;

/** Selects any number of records of another kind. */
export function ManyReferencesField({
  kind,
  label,
  hint,
  error,
  value,
  onChange,
}: ReferenceProps & { readonly value: readonly string[]; readonly onChange: (value: string[]) => void }): ReactNode {
  const [text, setText] = useState("");
  const choices = useChoices(kind, value, text);
  const all = choices.items;
  const shown = all.filter(
    (record) => value.includes(referenceTo(kind, record)) || shownName(kind, record).toLowerCase().includes(text.toLowerCase()),
  );
  return (
    <fieldset className="grid gap-3 rounded-lg border border-line p-3">
      <legend className="px-1 text-sm font-medium">{label}</legend>
      {hint !== undefined && <p className="text-sm text-muted">{hint}</p>}
      {all.length > FILTERED_FROM && (
        <TextField label={`Find a ${kind.noun}`} type="search" value={text} onChange={({ target }) => setText(target.value)} />
      )}
      {choices.beyond !== null && (
        <p className="text-sm text-muted">There are {formatNumber(choices.beyond)}, of which the first are listed: type to find others.</p>
      )}
      {choices.isSuccess && all.length === 0 && <p className="text-sm text-muted">There is no {kind.noun} yet.</p>}
      <div className="flex max-h-60 flex-wrap gap-x-6 gap-y-2 overflow-y-auto" role="group" aria-label={label}>
        {shown.map((record) => {
          const id = referenceTo(kind, record);
          return (
            <CheckboxField
              key={id}
              label={shownName(kind, record)}
              checked={value.includes(id)}
              onChange={({ target }) => onChange(target.checked ? [...value, id] : value.filter((one) => one !== id))}
            />
          );
        })}
      </div>
      {error !== undefined && (
        <p role="alert" className="text-sm text-bad">
          {error}
        </p>
      )}
    </fieldset>
  );
}
