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
  /** Members shown at once; all others are collapsed below. */
  readonly first?: readonly string[];
  readonly onlyWith?: OnlyWith;
  readonly isRefused?: (member: string, choice: string) => boolean;
  /** The current record, including members that a change cannot set. */
  readonly record?: Readonly<Record<string, unknown>>;
  readonly submitLabel: string;
  readonly busy: boolean;
  readonly error: unknown;
  readonly onSubmit: (value: Readonly<Record<string, unknown>>) => void;
  /** Sends only what differs from `initial`; with no difference, nothing can be sent. */
  readonly changesOnly?: boolean;
  /** The request member that the form edits, if it is not the whole request. */
  readonly within?: string;
  /** Asks before leaving a form with unsaved input. */
  readonly asksToLeave?: boolean;
  /** Called on each edit with whether the form differs from `initial`. */
  readonly onEdited?: (isEdited: boolean) => void;
  /** A check of the form's values before they are submitted. */
  readonly trial?: { readonly label: string; readonly busy: boolean; readonly run: (value: Readonly<Record<string, unknown>>) => void };
}

type Members = Readonly<Record<string, unknown>>;

/** Removed members become null; the gateway decides whether that is allowed. */
function differing(value: Members, initial: Members): Members {
  const takenOut = Object.keys(initial).filter((name) => value[name] === undefined && initial[name] != null);
  return {
    ...Object.fromEntries(Object.entries(value).filter(([name, now]) => JSON.stringify(now) !== JSON.stringify(initial[name]))),
    ...Object.fromEntries(takenOut.map((name) => [name, null])),
  };
}

/** Opens the sections around a field, because browsers silently refuse to submit a form with an invalid hidden field. */
function unfold(field: Element): void {
  const fold = field.closest<HTMLDetailsElement>("details:not([open])");
  if (fold === null) return;
  fold.open = true;
  unfold(field);
}

/** A form generated from the schema of its request. The gateway's errors appear at the fields they are about. */
export function RecordForm({
  document,
  schema,
  references,
  initial,
  first,
  onlyWith = {},
  isRefused = () => false,
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
  // After submission, the page may navigate without asking about unsaved input.
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
    isRefused,
  };
  const isFolded = fields.some(({ field }) => folded.some((name) => field === name || field.startsWith(`${name}.`)));
  const changes = differing(value, initial);
  const sent = Object.fromEntries(Object.entries(changesOnly ? changes : value).filter(([name]) => isMeant(name)));
  // Errors at paths without a field of their own, inside a member that is drawn as a whole.
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
