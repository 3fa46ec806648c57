import { ApiError } from "@gatehouse/web-kit/api-error.ts";
import { Button } from "@gatehouse/web-kit/button.tsx";
import { FormError } from "@gatehouse/web-kit/form-error.tsx";
import { type ReactNode, useEffect, useId, useRef, useState } from "react";
import type { ApiDocument, ApiSchema } from "./api-schema.ts";
import type { OnlyWith } from "./record-kind.ts";
import { type FieldContext, SchemaMembers } from "./schema-field.tsx";
import { UnsavedQuestion } from "./unsaved-question.tsx";

interface RecordFormProps {
  readonly document: ApiDocument;
  readonly schema: ApiSchema;
  readonly references: Readonly<Record<string, string>>;
  readonly initial: Readonly<Record<string, unknown>>;
  /** What is shown at once; all others stand folded below. */
  readonly first?: readonly string[];
  readonly onlyWith?: OnlyWith;
  /** What stands already, also what a change cannot name. */
  readonly record?: Readonly<Record<string, unknown>>;
  readonly submitLabel: string;
  readonly busy: boolean;
  readonly error: unknown;
  readonly onSubmit: (value: Readonly<Record<string, unknown>>) => void;
  /** Only what differs from `initial` is sent, and nothing is sent while nothing does. */
  readonly changesOnly?: boolean;
  /** The member of the request that the form is of, where it is not of all of it. */
  readonly within?: string;
  /** It is no record yet, or another than the one that stands: whoever leaves is asked first. */
  readonly asksToLeave?: boolean;
  /** Hears whether the form holds what `initial` does not, each time somebody changes something in it. */
  readonly onEdited?: (isEdited: boolean) => void;
  /** What can be asked of what stands in the form before it is sent. */
  readonly trial?: { readonly label: string; readonly busy: boolean; readonly run: (value: Readonly<Record<string, unknown>>) => void };
}

type Members = Readonly<Record<string, unknown>>;

/** What was taken out counts as null: whether it may be, the gateway says. */
function differing(value: Members, initial: Members): Members {
  const takenOut = Object.keys(initial).filter((name) => value[name] === undefined && initial[name] != null);
  return {
    ...Object.fromEntries(Object.entries(value).filter(([name, now]) => JSON.stringify(now) !== JSON.stringify(initial[name]))),
    ...Object.fromEntries(takenOut.map((name) => [name, null])),
  };
}

/** A browser points at what is wrong only where it is in sight, and sends nothing without a word where it is not. */
function unfold(field: Element): void {
  const fold = field.closest<HTMLDetailsElement>("details:not([open])");
  if (fold === null) return;
  fold.open = true;
  unfold(field);
}

/** A form drawn from the schema of the request it makes. What the gateway refuses stands at the field it is about. */
export function RecordForm({
  document,
  schema,
  references,
  initial,
  first,
  onlyWith = {},
  record = {},
  submitLabel,
  busy,
  error,
  onSubmit,
  within,
  changesOnly = false,
  asksToLeave = false,
  onEdited,
  trial,
}: RecordFormProps): ReactNode {
  const [value, setValue] = useState<Readonly<Record<string, unknown>>>(initial);
  const more = useId();
  // Between what was sent and its answer the page may go on by itself.
  const isSent = useRef(false);
  useEffect(() => {
    if (error != null) isSent.current = false;
  }, [error]);
  const change = (next: Readonly<Record<string, unknown>>) => {
    isSent.current = false;
    setValue(next);
    onEdited?.(Object.keys(differing(next, initial)).length > 0);
  };
  const isMeant = (name: string) =>
    Object.entries(onlyWith[name] ?? {}).every(([other, meant]) =>
      [value[other] ?? record[other]].flat().some((one) => ([meant].flat() as unknown[]).includes(one)),
    );
  const names = Object.keys(schema.properties ?? {}).filter(isMeant);
  const shown = first === undefined ? names : first.filter((name) => names.includes(name));
  const folded = names.filter((name) => !shown.includes(name));
  const fields = (error instanceof ApiError ? error.fields : []).map(({ field, message }) => ({
    field: within !== undefined && field.startsWith(`${within}.`) ? field.slice(within.length + 1) : field,
    message,
  }));
  const context: FieldContext = {
    document,
    references,
    errorAt: (path) => fields.find(({ field }) => field === path)?.message,
    isChange: changesOnly,
  };
  const isFolded = fields.some(({ field }) => folded.some((name) => field === name || field.startsWith(`${name}.`)));
  const changes = differing(value, initial);
  const sent = Object.fromEntries(Object.entries(changesOnly ? changes : value).filter(([name]) => isMeant(name)));
  // A path that no field has, of a member within one that is drawn whole.
  const elsewhere = fields.filter(({ field }) => !names.includes(field));
  const form = (
    <form
      className="grid gap-4"
      onInvalidCapture={({ target }) => unfold(target as Element)}
      onSubmit={(event) => {
        event.preventDefault();
        isSent.current = true;
        onSubmit(sent);
      }}
    >
      <SchemaMembers context={context} path="" schema={schema} value={value} onChange={change} only={shown} />
      {folded.length > 0 && (
        <details className="rounded-lg border border-line p-3" {...(isFolded ? { open: true } : {})}>
          <summary id={more} className="min-h-6 cursor-pointer text-sm font-medium">
            {folded.length === 1 ? "1 more setting" : `${folded.length} more settings`}
          </summary>
          <div className="mt-4 grid gap-4" role="group" aria-labelledby={more}>
            <SchemaMembers context={context} path="" schema={schema} value={value} onChange={change} only={folded} />
          </div>
        </details>
      )}
      <FormError error={error} atFields={error instanceof ApiError ? error.fields.map(({ field }) => field) : []} />
      {elsewhere.length > 0 && (
        <ul role="alert" className="grid gap-1 rounded-lg bg-bad-soft px-3 py-2 text-sm text-bad">
          {elsewhere.map(({ field, message }) => (
            <li key={field}>
              {field}: {message}
            </li>
          ))}
        </ul>
      )}
      <div className="flex flex-wrap gap-3">
        <Button type="submit" look="primary" busy={busy} disabled={changesOnly && Object.keys(changes).length === 0}>
          {submitLabel}
        </Button>
        {trial !== undefined && (
          <Button busy={trial.busy} onClick={({ currentTarget }) => currentTarget.form?.reportValidity() === true && trial.run(sent)}>
            {trial.label}
          </Button>
        )}
      </div>
    </form>
  );
  if (!asksToLeave) return form;
  return (
    <>
      {form}
      <UnsavedQuestion isUnsaved={() => !isSent.current && Object.keys(changes).length > 0} />
    </>
  );
}
