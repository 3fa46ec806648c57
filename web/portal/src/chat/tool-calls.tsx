import { Guarded } from "@gatehouse/web-kit/guarded.tsx";
import { Badge } from "@gatehouse/web-kit/page.tsx";
import { formatRelative } from "@gatehouse/web-kit/formats.ts";
import { VisibleText } from "@gatehouse/web-kit/visible-text.tsx";
import { Link } from "@tanstack/react-router";
import { Wrench } from "lucide-react";
import { lazy, type ReactNode, Suspense } from "react";
import { CallArguments } from "../tools/call-arguments.tsx";
import { usePortalTexts } from "../translations.ts";
import type { ToolCall, ToolRound } from "./conversation.ts";
import { Markdown } from "./markdown.tsx";

const ToolApp = lazy(() => import("../tools/tool-app.tsx").then((module) => ({ default: module.ToolApp })));

const TONES = { running: "neutral", waiting: "warn", done: "good", failed: "bad", refused: "bad", stopped: "neutral" } as const;

function argumentsOf(text: string): unknown {
  try {
    return JSON.parse(text === "" ? "{}" : text);
  } catch {
    return {};
  }
}

function CallView({ call, isLast }: { readonly call: ToolCall; readonly isLast: boolean }): ReactNode {
  const t = usePortalTexts();
  const { state, tool, serverName, approval, told, requestId, appUri, serverId, result } = call;
  const states = {
    running: t("callRunning"),
    waiting: t("callWaiting"),
    done: t("callDone"),
    failed: t("callFailed"),
    refused: t("callRefused"),
    stopped: t("callStopped"),
  };
  return (
    <section
      aria-label={t("callOf", { tool: tool ?? call.name, server: serverName })}
      className="grid min-w-0 gap-2 rounded-xl border border-line p-3"
    >
      <p className="flex flex-wrap items-center gap-2 text-sm">
        <Wrench aria-hidden size={16} className="text-muted" />
        <span className="font-mono font-semibold break-all">{tool ?? call.name}</span>
        {serverName !== "" && <span className="text-muted">{serverName}</span>}
        <span role="status" className="ml-auto">
          <Badge tone={TONES[state]}>{states[state]}</Badge>
        </span>
      </p>
      {state === "waiting" && approval !== undefined && (
        <div className="grid gap-1 rounded-lg bg-warn-soft p-3 text-sm">
          <p>{t("callHeld")}</p>
          <p>
            {approval.expiresAt !== null && (
              <>
                {t("deadline")}: <time dateTime={approval.expiresAt}>{formatRelative(approval.expiresAt)}</time>.{" "}
              </>
            )}
            <Link to="/approvals" search={{ status: "pending" }} className="text-accent underline">
              {t("navApprovals")}
            </Link>
          </p>
        </div>
      )}
      <details>
        <summary className="min-h-6 w-fit cursor-pointer text-sm text-muted">{t("arguments")}</summary>
        <div className="mt-2">
          <CallArguments text={call.arguments} />
        </div>
      </details>
      {told !== undefined && (
        <details open={state === "failed" || state === "refused"}>
          <summary className="min-h-6 w-fit cursor-pointer text-sm text-muted">{t("callAnswer")}</summary>
          <pre
            dir="auto"
            tabIndex={0}
            className="mt-2 max-h-60 overflow-auto rounded-lg bg-sunken p-2 font-mono text-sm break-words whitespace-pre-wrap"
          >
            <VisibleText text={told} />
          </pre>
          {requestId != null && (
            <p className="mt-1 font-mono text-xs break-all">
              {t("request")} {requestId}
            </p>
          )}
        </details>
      )}
      {isLast && state === "done" && appUri !== null && serverId !== null && result !== undefined && (
        <Guarded of={call.id} instead={<p className="text-sm text-muted">{t("unreadable")}</p>}>
          <Suspense fallback={<p className="text-sm text-muted">{t("loading")}</p>}>
            <ToolApp serverId={serverId} serverName={serverName} uri={appUri} given={argumentsOf(call.arguments)} result={result} />
          </Suspense>
        </Guarded>
      )}
    </section>
  );
}

/** A model's tool calls in order, with what it said in between. */
export function ToolRounds({ rounds, isLast }: { readonly rounds: readonly ToolRound[]; readonly isLast: boolean }): ReactNode {
  return rounds.map(({ text, calls }, at) => (
    <div key={at} className="grid min-w-0 gap-2">
      {text !== "" && <Markdown text={text} />}
      {calls.map((call) => (
        <CallView key={call.id} call={call} isLast={isLast} />
      ))}
    </div>
  ));
}
