import { Button } from "@gatehouse/web-kit/button.tsx";
import { inputClass, LabelledField, TextAreaField, TextField } from "@gatehouse/web-kit/field.tsx";
import { Panel } from "@gatehouse/web-kit/page.tsx";
import { Send, Square } from "lucide-react";
import type { FormEvent, ReactNode } from "react";
import { CredentialField } from "../credential-field.tsx";
import { asksWho, type Operation } from "../document/api-document.ts";
import type { SchemaReader } from "../document/schema-reader.ts";
import type { PageCaller } from "../use-caller.ts";
import { AnswerView } from "./answer-view.tsx";
import { type TriedRequest, formParts, parameterKey, requestOf, takesForm, takesJson } from "./attempt.ts";
import { useAnswer } from "./use-answer.ts";

/** Sends the operation with the chosen credential and shows the response. */
export function TryIt({
  operation,
  reader,
  caller,
  attempt,
  onChange,
}: {
  readonly operation: Operation;
  readonly reader: SchemaReader;
  readonly caller: PageCaller;
  readonly attempt: TriedRequest;
  readonly onChange: (attempt: TriedRequest) => void;
}): ReactNode {
  const { answer, isRunning, send, stop } = useAnswer();
  const set = (key: string) => (event: { currentTarget: { value: string } }) =>
    onChange({ ...attempt, values: { ...attempt.values, [key]: event.currentTarget.value } });
  const { files, texts } = formParts(operation);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    void send(async () => requestOf(operation, attempt, asksWho(operation) ? await caller.token() : null));
  };
  return (
    <Panel title="Try it">
      <form onSubmit={submit} className="grid grid-cols-1 gap-4">
        {(operation.about.parameters ?? [])
          .filter((one) => one.in !== "cookie")
          .map(({ name, in: place, required = false, schema, description }) => (
            <TextField
              key={parameterKey(place, name)}
              label={`${name} (${place})`}
              hint={description}
              placeholder={reader.typeOf(schema)}
              required={required}
              value={attempt.values[parameterKey(place, name)] ?? ""}
              onChange={set(parameterKey(place, name))}
            />
          ))}
        {takesJson(operation) && (
          <TextAreaField
            label="Body"
            rows={8}
            spellCheck={false}
            className="font-mono text-xs"
            value={attempt.body}
            onChange={(event) => onChange({ ...attempt, body: event.currentTarget.value })}
          />
        )}
        {takesForm(operation) &&
          texts.map((name) => (
            <TextField
              key={name}
              label={`${name} (part of the form)`}
              value={attempt.values[parameterKey("part", name)] ?? ""}
              onChange={set(parameterKey("part", name))}
            />
          ))}
        {files.length > 0 && (
          <LabelledField label={`${files.join(", ")} (a file)`}>
            {(bound) => (
              <input
                {...bound}
                type="file"
                className={inputClass}
                onChange={(event) => onChange({ ...attempt, file: event.currentTarget.files?.[0] ?? null })}
              />
            )}
          </LabelledField>
        )}
        <details className="text-sm">
          <summary className="min-h-6 cursor-pointer text-muted">More headers</summary>
          <TextAreaField
            label="Headers, one a line"
            hint="For example: X-Gw-Run-Id: nightly"
            rows={2}
            spellCheck={false}
            className="font-mono text-xs"
            value={attempt.headers}
            onChange={(event) => onChange({ ...attempt, headers: event.currentTarget.value })}
          />
        </details>
        {asksWho(operation) ? (
          <CredentialField caller={caller} />
        ) : (
          <p className="text-sm text-muted">Nobody is asked who they are here.</p>
        )}
        <div className="flex gap-2">
          <Button look="primary" type="submit" icon={Send} busy={isRunning}>
            Send {operation.method}
          </Button>
          {isRunning && (
            <Button icon={Square} onClick={stop}>
              Stop
            </Button>
          )}
        </div>
      </form>
      {answer !== null && (
        <div className="mt-4 border-t border-line pt-4">
          <AnswerView answer={answer} />
        </div>
      )}
    </Panel>
  );
}
