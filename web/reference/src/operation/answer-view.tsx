import { Button } from "@gatehouse/web-kit/button.tsx";
import { Badge } from "@gatehouse/web-kit/page.tsx";
import { Download } from "lucide-react";
import type { ReactNode } from "react";
import type { ShownAnswer } from "./use-answer.ts";

const toneOf = (status: number) => (status < 300 ? "good" : status < 500 ? "warn" : "bad");

function save(file: Blob): void {
  const address = URL.createObjectURL(file);
  const link = document.createElement("a");
  link.href = address;
  link.download = "answer";
  link.click();
  URL.revokeObjectURL(address);
}

/** A response: status and headers, and its text as it arrives. */
export function AnswerView({ answer }: { readonly answer: ShownAnswer }): ReactNode {
  const { status, statusText, took, headers, text, left, file, problem, isDone } = answer;
  return (
    <div className="grid grid-cols-1 gap-3" aria-busy={!isDone}>
      <p role="status" className="flex flex-wrap items-center gap-2 text-sm">
        {status !== null && (
          <Badge tone={toneOf(status)}>
            {status} {statusText}
          </Badge>
        )}
        {took !== null && <span className="text-muted tabular-nums">{Math.round(took)} ms</span>}
        {!isDone && <span className="text-muted">Waiting for the rest</span>}
      </p>
      {problem !== null && (
        <p role="alert" className="text-bad">
          {problem}
        </p>
      )}
      {file !== null && (
        <p className="flex flex-wrap items-center gap-3 text-sm">
          {file.size} bytes of {file.type === "" ? "no stated type" : file.type}
          <Button icon={Download} onClick={() => save(file)}>
            Save the file
          </Button>
        </p>
      )}
      {text !== "" && (
        <pre
          tabIndex={0}
          aria-label="Body of the answer"
          className="max-h-[32rem] overflow-auto rounded-lg bg-sunken p-3 font-mono text-xs break-words whitespace-pre-wrap"
        >
          {text}
        </pre>
      )}
      {left > 0 && <p className="text-sm text-muted">{left} characters more are not shown.</p>}
      {headers.length > 0 && (
        <details className="text-sm">
          <summary className="min-h-6 cursor-pointer text-muted">Headers of the answer</summary>
          <pre tabIndex={0} className="mt-2 overflow-auto rounded-lg bg-sunken p-3 font-mono text-xs">
            {headers.map(([name, value]) => `${name}: ${value}`).join("\n")}
          </pre>
        </details>
      )}
    </div>
  );
}
