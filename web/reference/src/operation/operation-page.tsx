import { codeSamples } from "@gatehouse/web-kit/code-samples.ts";
import { CodeSamplesView } from "@gatehouse/web-kit/code-samples-view.tsx";
import { Badge, PageFrame, Panel } from "@gatehouse/web-kit/page.tsx";
import { type ReactNode, useMemo, useState } from "react";
import { asksWho, type DocumentSchema, type Operation } from "../document/api-document.ts";
import type { SchemaReader } from "../document/schema-reader.ts";
import { MembersTable } from "../members-table.tsx";
import { PRODUCT_NAME } from "../product-name.ts";
import type { PageCaller } from "../use-caller.ts";
import { type TriedRequest, formBodySchema, jsonBodySchema, sampleOfAttempt } from "./attempt.ts";
import { TryIt } from "./try-it.tsx";

/** One operation: its request and response, code samples, and a form to send it. */
export function OperationPage({
  operation,
  reader,
  caller,
}: {
  readonly operation: Operation;
  readonly reader: SchemaReader;
  readonly caller: PageCaller;
}): ReactNode {
  const { about, method, path } = operation;
  const bodyOf = jsonBodySchema(operation);
  const [attempt, setAttempt] = useState<TriedRequest>(() => ({
    values: {},
    body: bodyOf === undefined ? "" : JSON.stringify(reader.sampleOf(bodyOf), null, 2),
    file: null,
    headers: "",
  }));
  const samples = useMemo(
    () => codeSamples(sampleOfAttempt(operation, attempt, asksWho(operation) ? caller.variable : null, location.origin)),
    [operation, attempt, caller.variable],
  );
  const parameters = (about.parameters ?? []).map(({ name, in: place, required = false, schema, description }) => ({
    name,
    type: reader.typeOf(schema),
    required,
    about: [`in the ${place}`, description].filter(Boolean).join(": "),
  }));
  const access = about["x-access"];
  return (
    <PageFrame product={PRODUCT_NAME} title={about.summary}>
      <p className="mb-4 flex flex-wrap items-center gap-2">
        <Badge tone={method === "GET" ? "neutral" : method === "DELETE" ? "bad" : "accent"}>{method}</Badge>
        <code className="min-w-0 font-mono text-sm break-all">{path}</code>
      </p>
      <div className="grid grid-cols-1 gap-6 xl:grid-cols-2">
        <div className="grid grid-cols-1 min-w-0 content-start gap-4">
          {about.description !== undefined && <p className="max-w-prose">{about.description}</p>}
          <p className="text-sm text-muted">
            {access === undefined
              ? asksWho(operation)
                ? "It needs a credential."
                : "Anyone may call it, without a credential."
              : `Who may call: ${access.replaceAll("_", " ")}`}
          </p>
          {parameters.length > 0 && (
            <Panel title="Parameters">
              <MembersTable caption="Parameters" members={parameters} />
            </Panel>
          )}
          {about.requestBody !== undefined && (
            <Panel title="Body">
              <SchemaView caption="Members of the body" schema={bodyOf ?? formBodySchema(operation)} reader={reader} />
            </Panel>
          )}
          <Panel title="Answers">
            <div className="grid grid-cols-1 gap-4">
              {Object.entries(about.responses).map(([status, { description, content }]) => (
                <section key={status} className="grid grid-cols-1 gap-2">
                  <h3 className="flex flex-wrap items-center gap-2 text-sm">
                    <Badge tone={status.startsWith("2") ? "good" : "neutral"}>{status === "default" ? "else" : status}</Badge>
                    {description}
                  </h3>
                  {status.startsWith("2") && content !== undefined && (
                    <SchemaView
                      caption={`Members of the answer ${status}`}
                      schema={content["application/json"]?.schema}
                      reader={reader}
                      media={Object.keys(content).join(", ")}
                    />
                  )}
                </section>
              ))}
            </div>
          </Panel>
        </div>
        <div className="grid grid-cols-1 min-w-0 content-start gap-4 xl:sticky xl:top-20">
          <section aria-label="Code samples">
            <CodeSamplesView samples={samples} label="Languages" />
          </section>
          <TryIt operation={operation} reader={reader} caller={caller} attempt={attempt} onChange={setAttempt} />
        </div>
      </div>
    </PageFrame>
  );
}

function SchemaView({
  caption,
  schema,
  reader,
  media,
}: {
  readonly caption: string;
  readonly schema: DocumentSchema | undefined;
  readonly reader: SchemaReader;
  readonly media?: string;
}): ReactNode {
  const members = useMemo(() => reader.membersOf(schema), [reader, schema]);
  if (schema === undefined) return <p className="text-sm text-muted">{media ?? "Anything"}</p>;
  if (members.length === 0) return <p className="font-mono text-xs">{reader.typeOf(schema)}</p>;
  return <MembersTable caption={caption} members={members} />;
}
