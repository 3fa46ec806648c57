import { AppBridge, PostMessageTransport } from "@modelcontextprotocol/ext-apps/app-bridge";
import { FormError } from "@gatehouse/web-kit/form-error.tsx";
import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useEffect, useRef, useState } from "react";
import { newUlid } from "../chat/ulid.ts";
import { portalApi } from "../portal-client.ts";
import { translations, usePortalTexts } from "../translations.ts";
import { isPlainObject, type PlainObject, mcpRequest } from "./mcp-request.ts";
import { runTool } from "./run-tool.ts";
import { toolPage, type ToolPage } from "./tool-page.ts";

interface ToolAppProps {
  readonly serverId: string;
  readonly serverName: string;
  readonly uri: string;
  readonly given: unknown;
  readonly result: PlainObject;
}

interface InterfaceCall {
  readonly id: string;
  readonly tool: string;
  readonly state: "running" | "waiting" | "done" | "failed";
}

const FIRST_HEIGHT = 240;
const MAX_HEIGHT = 900;
const MIN_HEIGHT = 60;
/** How many of the interface's latest calls are listed. */
const MAX_LISTED_CALLS = 5;

/** A tool's interface in a sandboxed frame that can reach neither this page nor the network, unless an administrator allows hosts. */
export function ToolApp({ serverId, serverName, uri, given, result }: ToolAppProps): ReactNode {
  const t = usePortalTexts();
  const page = useQuery({
    queryKey: ["tool-app", serverId, uri],
    queryFn: async () =>
      toolPage(await portalApi.call("GET /v1/portal/mcp-apps/{server_id}/resource", { path: { server_id: serverId }, query: { uri } })),
    retry: false,
  });
  if (page.isPending) return <p className="text-sm text-muted">{t("loading")}</p>;
  if (page.isError) return <FormError error={page.error} />;
  return <AppFrame page={page.data} serverId={serverId} serverName={serverName} given={given} result={result} />;
}

function AppFrame({ page, serverId, serverName, given, result }: Omit<ToolAppProps, "uri"> & { readonly page: ToolPage }): ReactNode {
  const t = usePortalTexts();
  const frame = useRef<HTMLIFrameElement>(null);
  const [height, setHeight] = useState(FIRST_HEIGHT);
  const [link, setLink] = useState<string | null>(null);
  const [calls, setCalls] = useState<readonly InterfaceCall[]>([]);
  const input = useRef({ given, result });

  useEffect(() => {
    const view = frame.current?.contentWindow;
    if (view == null) return undefined;
    const stop = new AbortController();
    const bridge = bridgeFor(serverId, stop.signal, {
      input: input.current,
      page,
      onHeight: (requestedHeight) => setHeight(Math.min(MAX_HEIGHT, Math.max(MIN_HEIGHT, Math.ceil(requestedHeight)))),
      onLink: setLink,
      onCall: (call) => setCalls((before) => [...before.filter(({ id }) => id !== call.id), call].slice(-MAX_LISTED_CALLS)),
    });
    // Listens before the frame has content, so that its first message is not missed.
    void bridge.connect(new PostMessageTransport(view, view)).then(() => {
      if (frame.current !== null) frame.current.src = page.address;
    });
    return () => {
      stop.abort();
      void bridge.close();
    };
  }, [page, serverId]);

  const states = { running: t("callRunning"), waiting: t("callWaiting"), done: t("callDone"), failed: t("callFailed") };
  return (
    <div className="grid gap-2">
      <div className="overflow-hidden rounded-lg border border-line bg-surface">
        <iframe
          ref={frame}
          title={t("appOf", { server: serverName })}
          sandbox="allow-scripts"
          style={{ height }}
          className="block w-full"
        />
      </div>
      {link !== null && (
        <p role="status" className="text-sm">
          {t("appLink")}{" "}
          <a href={link} target="_blank" rel="noopener noreferrer nofollow" className="break-all text-accent underline">
            {link}
          </a>
        </p>
      )}
      {calls.length > 0 && (
        <ul aria-live="polite" className="grid gap-1 text-sm text-muted">
          {calls.map(({ id, tool, state }) => (
            <li key={id}>
              <span className="font-mono">{tool}</span>: {states[state]}
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

interface BridgeEvents {
  readonly input: { readonly given: unknown; readonly result: PlainObject };
  readonly page: ToolPage;
  readonly onHeight: (height: number) => void;
  readonly onLink: (address: string) => void;
  readonly onCall: (call: InterfaceCall) => void;
}

/**
 * What the interface may request: its own server's tools and resources, through the gateway like any call, and links the person confirms.
 */
function bridgeFor(serverId: string, signal: AbortSignal, { input, page, onHeight, onLink, onCall }: BridgeEvents): AppBridge {
  const bridge = new AppBridge(
    null,
    { name: "gatehouse-portal", version: "1" },
    { serverTools: {}, serverResources: {}, openLinks: {} },
    {
      hostContext: {
        theme: document.documentElement.dataset["theme"] === "dark" ? "dark" : "light",
        locale: translations.tag(),
        displayMode: "inline",
        platform: "web",
      },
    },
  );
  bridge.onsandboxready = () => void bridge.sendSandboxResourceReady({ html: page.html, sandbox: "allow-scripts" });
  bridge.oninitialized = () => {
    void bridge.sendToolInput({ arguments: isPlainObject(input.given) ? { ...input.given } : {} });
    void bridge.sendToolResult(input.result as Parameters<typeof bridge.sendToolResult>[0]);
  };
  bridge.onsizechange = ({ height }) => height !== undefined && Number.isFinite(height) && onHeight(height);
  bridge.onopenlink = async ({ url }) => {
    const isWeb = URL.canParse(url) && /^https?:$/.test(new URL(url).protocol);
    if (isWeb) onLink(new URL(url).href);
    return { isError: !isWeb };
  };
  bridge.onreadresource = async ({ uri }) =>
    (await mcpRequest({ serverId, method: "resources/read", params: { uri }, signal })) as ReturnType<
      NonNullable<typeof bridge.onreadresource>
    > extends Promise<infer Answer>
      ? Answer
      : never;
  bridge.oncalltool = async ({ name, arguments: toolArguments = {} }) => {
    const id = newUlid();
    onCall({ id, tool: name, state: "running" });
    try {
      const end = await runTool({
        serverId,
        tool: name,
        argumentsText: JSON.stringify(toolArguments),
        runId: null,
        signal,
        onHeld: () => onCall({ id, tool: name, state: "waiting" }),
      });
      onCall({ id, tool: name, state: end.kind === "answered" && end.result.isError !== true ? "done" : "failed" });
      if (end.kind === "answered") return { content: [], ...end.result };
      return { content: [{ type: "text", text: `The call was not approved (${end.reason}).` }], isError: true };
    } catch (error) {
      onCall({ id, tool: name, state: "failed" });
      return { content: [{ type: "text", text: error instanceof Error ? error.message : String(error) }], isError: true };
    }
  };
  return bridge;
}
