import { codeSamples } from "@gatehouse/web-kit/code-samples.ts";
import { CodeSamplesView } from "@gatehouse/web-kit/code-samples-view.tsx";
import { Panel } from "@gatehouse/web-kit/page.tsx";
import { useQueries, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Circle, CircleCheck } from "lucide-react";
import type { ReactNode } from "react";
import { adminApi } from "./admin-client.ts";
import type { AdminApi } from "./api/admin-api.generated.ts";
import { useAllowed } from "./records/allowed.tsx";
import { askRecords, type ApiRecord } from "./records/records-client.ts";

interface FirstStep {
  readonly title: string;
  readonly hint: string;
  readonly kind?: string;
  readonly creates: keyof AdminApi & string;
  /** API path that shows whether the step is done. */
  readonly path: string;
  readonly isDone: (answer: ApiRecord) => boolean;
}

const some = (answer: ApiRecord, member: string, fits: (record: ApiRecord) => boolean = () => true): boolean =>
  Array.isArray(answer[member]) && answer[member].some(fits);

const STEPS: readonly FirstStep[] = [
  {
    title: "Name a provider",
    hint: "Where models are, with a key. The built-in echo needs none.",
    kind: "providers",
    creates: "POST /v1/admin/providers",
    path: "/v1/admin/providers?page_size=200",
    isDone: (answer) => some(answer, "providers", ({ api_format: format }) => format !== "echo"),
  },
  {
    title: "Add a model",
    hint: "What callers name, granted to a group.",
    kind: "models",
    creates: "POST /v1/admin/llms",
    path: "/v1/admin/llms?page_size=200",
    isDone: (answer) => some(answer, "llms", ({ provider }) => provider !== "echo"),
  },
  {
    title: "Make a resource group",
    hint: "A team or an application: who may use what.",
    kind: "resource-groups",
    creates: "POST /v1/admin/resource-groups",
    path: "/v1/admin/resource-groups?page_size=1",
    isDone: (answer) => some(answer, "resource_groups"),
  },
  {
    title: "Make an API key",
    hint: "What the application calls with.",
    kind: "api-keys",
    creates: "POST /v1/admin/resource-groups/{id}/api-keys",
    path: "/v1/admin/api-keys?page_size=1",
    isDone: (answer) => some(answer, "api_keys"),
  },
  {
    title: "Set a guardrail",
    hint: "What may not go in or out.",
    kind: "guardrails",
    creates: "POST /v1/admin/guardrails/configs",
    path: "/v1/admin/guardrails/configs?page_size=1",
    isDone: (answer) => some(answer, "configs"),
  },
];

/** The runtime plane's default port. */
const RUNTIME_PORT = 8080;
const LOOPBACK = /^(?:localhost|127\.\d+\.\d+\.\d+|0\.0\.0\.0|\[::1?\])$/;

/** The runtime plane's URL as seen from this browser: a loopback address is replaced by this page's host. */
async function callsAt(): Promise<string> {
  const answer = await fetch("/console/planes.json");
  const { runtime } = answer.ok ? ((await answer.json()) as { runtime: string | null }) : { runtime: null };
  const url = new URL(runtime ?? `${location.protocol}//${location.hostname}:${RUNTIME_PORT}`);
  if (LOOPBACK.test(url.hostname)) url.hostname = location.hostname;
  return url.href.replace(/\/$/, "");
}

/** Checklist from an empty gateway to a first governed model call. Hidden once every step is done. */
export function FirstSteps(): ReactNode {
  const answers = useQueries({
    queries: STEPS.map(({ path }) => ({ queryKey: ["first-steps", path], queryFn: () => askRecords("GET", path), retry: false })),
  });
  const call = useQuery({
    queryKey: ["first-steps", "call"],
    queryFn: () => adminApi.call("POST /v1/admin/proxy-logs/query", { body: { page_size: 1, filters: { proxy_type: "llm" } } }),
    retry: false,
  });
  const isAllowed = useAllowed();
  const mayDo = ({ creates }: FirstStep) => isAllowed(creates);
  const runtime = useQuery({ queryKey: ["calls-at"], queryFn: callsAt, retry: false, staleTime: Number.POSITIVE_INFINITY });
  if (runtime.isPending || call.isPending || answers.some(({ isPending }) => isPending)) return null;
  const isDone = STEPS.map((step, at) => answers[at]?.data !== undefined && step.isDone(answers[at].data));
  const isCalled = (call.data?.rows.length ?? 0) > 0;
  if (isCalled && isDone.every(Boolean)) return null;
  const samples = codeSamples({
    method: "POST",
    url: `${runtime.data ?? ""}/v1/proxy/llm/chat/completions`,
    credential: "GATEHOUSE_KEY",
    headers: [],
    body: { kind: "json", text: '{"model":"echo","messages":[{"role":"user","content":"Hello"}]}' },
  });
  return (
    <Panel title="First steps">
      <ol className="grid gap-3">
        {STEPS.map((step, at) => (
          <Step key={step.title} done={isDone[at] === true} hint={step.hint}>
            {isDone[at] === true || mayDo(step) ? (
              <Link
                to={isDone[at] === true ? "/manage/$kind" : "/manage/$kind/new"}
                params={{ kind: step.kind ?? "" }}
                className="text-accent underline"
              >
                {step.title}
              </Link>
            ) : (
              step.title
            )}
          </Step>
        ))}
        <Step
          done={isCalled}
          hint="With the key in GATEHOUSE_KEY, at the address of the runtime plane."
          more={<CodeSamplesView samples={samples} label="Languages" />}
        >
          Send a call
        </Step>
        <Step done={isCalled} hint="Every call leaves one, within a second.">
          <Link to="/audit" className="text-accent underline">
            Find its row
          </Link>
        </Step>
      </ol>
      <p className="mt-4 text-sm text-muted">
        A group&apos;s page sets its limits and budgets. All of this can also be kept in a file: gatehouse config export.
      </p>
    </Panel>
  );
}

function Step({
  done,
  hint,
  more,
  children,
}: {
  readonly done: boolean;
  readonly hint: string;
  readonly more?: ReactNode;
  readonly children: ReactNode;
}): ReactNode {
  const Icon = done ? CircleCheck : Circle;
  return (
    <li className="flex items-start gap-3">
      <Icon aria-label={done ? "Done" : "To do"} size={20} className={done ? "mt-0.5 shrink-0 text-good" : "mt-0.5 shrink-0 text-muted"} />
      <div className="grid min-w-0 grow grid-cols-1 gap-0.5">
        <span>{children}</span>
        <span className="text-sm text-muted">{hint}</span>
        {more !== undefined && <div className="mt-1">{more}</div>}
      </div>
    </li>
  );
}
