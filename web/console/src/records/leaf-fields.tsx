import { CheckboxField, TextAreaField } from "@gatehouse/web-kit/field.tsx";
import { type ReactNode, useState } from "react";
import { memberLabel } from "./api-schema.ts";

export interface PartProps<Value> {
  readonly label: string;
  readonly hint?: string | undefined;
  readonly error?: string | undefined;
  readonly value: Value;
  readonly onChange: (value: Value) => void;
}

export const listedTexts = (value: unknown): string[] => (Array.isArray(value) ? value.filter((one) => typeof one === "string") : []);

/** Related controls under a common name. */
export function FieldGroup({
  label,
  hint,
  error,
  children,
}: {
  label: string;
  hint?: string | undefined;
  error?: string | undefined;
  children: ReactNode;
}): ReactNode {
  return (
    <fieldset className="grid gap-3 rounded-lg border border-line p-3">
      <legend className="px-1 text-sm font-medium">{label}</legend>
      {hint !== undefined && <p className="text-sm text-muted">{hint}</p>}
      {children}
      {error !== undefined && (
        <p role="alert" className="text-sm text-bad">
          {error}
        </p>
      )}
    </fieldset>
  );
}

export function ChoicesField({
  label,
  hint,
  error,
  choices,
  value,
  onChange,
}: PartProps<readonly string[]> & { readonly choices: readonly string[] }): ReactNode {
  return (
    <FieldGroup label={label} hint={hint} error={error}>
      <div className="flex flex-wrap gap-x-6 gap-y-2">
        {choices.map((choice) => (
          <CheckboxField
            key={choice}
            // Events are named as programs get them.
            label={choice.includes(".") ? choice : memberLabel(choice)}
            checked={value.includes(choice)}
            onChange={({ target }) => onChange(target.checked ? [...value, choice] : value.filter((one) => one !== choice))}
          />
        ))}
      </div>
    </FieldGroup>
  );
}

/** A list of strings, one per line. */
export function LinesField({
  label,
  hint,
  error,
  value,
  onChange,
}: Omit<PartProps<unknown>, "onChange"> & { readonly onChange: (value: string[]) => void }): ReactNode {
  const [text, setText] = useState(listedTexts(value).join("\n"));
  return (
    <TextAreaField
      label={label}
      hint={`${hint ?? ""} One a line.`.trim()}
      error={error}
      rows={3}
      value={text}
      onChange={({ target }) => {
        setText(target.value);
        onChange(
          target.value
            .split("\n")
            .map((line) => line.trim())
            .filter((line) => line !== ""),
        );
      }}
    />
  );
}

/** A list of strings, one per line; no lines mean null. An empty list is chosen separately. */
export function NullableLinesField({ value, onChange, ...common }: PartProps<unknown>): ReactNode {
  const isNone = Array.isArray(value) && value.length === 0;
  return (
    <div className="grid gap-2">
      {!isNone && <LinesField {...common} value={value} onChange={(next) => onChange(next.length === 0 ? null : next)} />}
      <CheckboxField
        label={`No ${common.label.toLowerCase()} at all`}
        checked={isNone}
        onChange={({ target }) => onChange(target.checked ? [] : null)}
      />
      {isNone && common.error !== undefined && (
        <p role="alert" className="text-sm text-bad">
          {common.error}
        </p>
      )}
    </div>
  );
}

const NO_JSON = "This is not valid JSON.";

/** A JSON editor for values that no other field supports. */
export function JsonField({ label, hint, error, value, onChange }: PartProps<unknown>): ReactNode {
  const [text, setText] = useState(value === undefined ? "" : JSON.stringify(value, null, 2));
  const [wrong, setWrong] = useState<string | undefined>(undefined);
  return (
    <TextAreaField
      label={label}
      hint={`${hint ?? ""} As JSON.`.trim()}
      error={wrong ?? error}
      className="font-mono text-sm"
      value={text}
      onChange={({ target }) => {
        setText(target.value);
        try {
          onChange(target.value.trim() === "" ? undefined : JSON.parse(target.value));
          setWrong(undefined);
          target.setCustomValidity("");
        } catch {
          setWrong(NO_JSON);
          // The form still holds the last valid value, which must not be submitted in place of this text.
          target.setCustomValidity(NO_JSON);
        }
      }}
    />
  );
}
