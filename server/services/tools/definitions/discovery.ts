import type { DiscoveredServer } from "../../../directory/tools/mcp-servers.ts";
import { cancelQuietly } from "../../../kernel/http/cancel-quietly.ts";
import { isEventStream } from "../../../upstreams/tool-servers/event-stream.ts";
import type { ToolServerEntry } from "../../../directory/tools/tool-server-entry.ts";
import { explained, reasonOf, type Refusal, isRefusal } from "../../../kernel/errors.ts";
import { storableValue } from "../../../kernel/text/storable.ts";
import type { ToolServerSend } from "../../../upstreams/tool-servers/send.ts";
import { isObject, type JsonObject, type JsonValue } from "../../../kernel/json-value.ts";
import { isStatelessVersion, META, STATELESS_VERSION } from "../../../wire/mcp/dialect.ts";
import { mirroredHeaders } from "../../../wire/mcp/headers.ts";
import { MAX_LISTED, MAX_PAGES, nextCursor } from "../../../wire/mcp/paging.ts";
import { requestText } from "../../../wire/mcp/rpc.ts";
import { listedTools } from "../../../wire/mcp/tool-definitions.ts";
import { statelessParams } from "../../../wire/mcp/bridge.ts";
import { describeServer, type ServerAuthorization } from "../authorization/describe-server.ts";
import { longestInstructions, pooledSession, sessionHeaders } from "../sessions/session-pool.ts";
import { endSession } from "../sessions/end-sessions.ts";
import { areTooMany } from "./listed-tools.ts";
import type { PooledSession } from "../forwarding/exchange.ts";
import { toolServerState } from "./tool-server-state.ts";
import { finalMessage, type UpstreamMessage, upstreamMessages } from "../forwarding/upstream-messages.ts";

/** The result of a discovery. Only `found` determines what the server is; the others say nothing about its dialect. */
export type Discovery =
  | { readonly status: "found"; readonly detail: string; readonly found: DiscoveredServer }
  | { readonly status: "unauthorized"; readonly detail: string; readonly oauth: ServerAuthorization }
  | { readonly status: "inconclusive"; readonly detail: string };

export interface ToolServerDiscovery {
  discover(server: ToolServerEntry): Promise<Discovery>;
}

const TIMEOUT_MS = 15_000;
const CLIENT = { name: "gatehouse", version: "1" };
const JSON_AND_EVENTS = { "content-type": "application/json", accept: "application/json, text/event-stream" };

/** Discovers servers: tries the stateless dialect first if `statelessProbe`, then the handshake. */
export function toolServerDiscovery(send: ToolServerSend, statelessProbe: boolean, allowPrivate: boolean): ToolServerDiscovery {
  return {
    async discover(server) {
      const probe = new Probe(server, send, allowPrivate);
      try {
        return (statelessProbe ? await probe.stateless(STATELESS_VERSION) : null) ?? (await probe.handshake());
      } catch (error) {
        return { status: "inconclusive", detail: `The server could not be asked: ${reasonOf(error)}` };
      } finally {
        probe.end();
      }
    },
  };
}

class Probe {
  private readonly server: ToolServerEntry;
  private readonly send: ToolServerSend;
  private readonly allowPrivate: boolean;
  private readonly abort = new AbortController();
  private readonly timer: ReturnType<typeof setTimeout>;
  private readonly timeoutMs: number;

  constructor(server: ToolServerEntry, send: ToolServerSend, allowPrivate: boolean) {
    this.allowPrivate = allowPrivate;
    this.server = server;
    this.send = send;
    this.timeoutMs = Math.min(server.timeoutMs, TIMEOUT_MS);
    this.timer = setTimeout(() => this.abort.abort("discovery_timeout"), TIMEOUT_MS * 2);
  }

  end(): void {
    clearTimeout(this.timer);
  }

  /** Null if the server does not speak the stateless dialect. */
  async stateless(version: string, again = false): Promise<Discovery | null> {
    const ask = (method: string, params: JsonObject, id: number) => {
      const text = statelessParams(JSON.stringify(params), { version, capabilities: {}, clientInfo: CLIENT, logLevel: null });
      return this.post(requestText(id, method, text), mirroredHeaders(version, method, null));
    };
    const response = await ask("server/discover", {}, 0);
    if (isRefusal(response)) return { status: "inconclusive", detail: explained(response) };
    const barred = await this.barred(response);
    if (barred !== null) return barred;
    if (response.status >= 300 && !mayHoldMessage(response)) {
      await cancelQuietly(response.body);
      return null;
    }
    const answer = (await finalMessage(upstreamMessages(response), 0))?.value;
    if (isObject(answer?.error)) {
      const supported = answer.error.code === -32022 && isObject(answer.error.data) ? answer.error.data.supported : undefined;
      const mutual = Array.isArray(supported) ? supported.find(isStatelessVersion) : undefined;
      return mutual === undefined || again ? null : this.stateless(mutual, true);
    }
    const result = answer?.result;
    // A successful answer is no proof; the list must contain a version of this dialect.
    if (!isObject(result) || !Array.isArray(result.supportedVersions)) return null;
    const mutual = result.supportedVersions.includes(version) ? version : result.supportedVersions.find(isStatelessVersion);
    if (typeof mutual !== "string") return null;
    if (mutual !== version && !again) return this.stateless(mutual, true);
    const meta = isObject(result._meta) ? result._meta[META.serverInfo] : undefined;
    let id = 1;
    const discovery = await this.found("stateless", mutual, meta, result, async (method, params) => {
      const listed = await ask(method, params, id);
      if (isRefusal(listed) || !listed.ok) return null;
      return finalMessage(upstreamMessages(listed), id++);
    });
    return discovery.status === "found" ? { ...discovery, found: { ...discovery.found, handshake: await this.besides() } } : discovery;
  }

  /**
   * What a stateless server offers to handshake-dialect clients; null if it has no sessions for them, in which case the gateway's own
   * sessions offer more.
   */
  private async besides(): Promise<DiscoveredServer["handshake"]> {
    // Servers with a single dialect are not sent a handshake: a GET without a session is a bad request only at servers that have sessions.
    const read = await this.send({
      url: this.server.url,
      method: "GET",
      headers: { accept: "text/event-stream", ...this.credential() },
      abort: this.abort,
      timeoutMs: this.timeoutMs,
    });
    if (isRefusal(read)) return null;
    await cancelQuietly(read.body);
    if (read.status !== 400) return null;
    const session = await this.session(this.send);
    if (isRefusal(session) || session.id === null) return null;
    await endSession(session, this.send, this.abort);
    const { version, capabilities, instructions } = session;
    return isStatelessVersion(version)
      ? null
      : (storableValue({
          protocolVersion: version,
          capabilities,
          instructions: longestInstructions(instructions),
        }) as DiscoveredServer["handshake"]);
  }

  private session(send: ToolServerSend): Promise<PooledSession | Refusal> {
    const inTime: ToolServerSend = (request) => send({ ...request, abort: this.abort });
    return pooledSession(
      this.server,
      { owner: "discovery", capabilities: {}, clientInfo: CLIENT, headers: this.credential() },
      { send: inTime, memory: toolServerState() },
    );
  }

  async handshake(): Promise<Discovery> {
    // Remember the first response, to tell a server that refuses or fails from one that does not speak the protocol.
    const seen: { status: number; response: Response | null } = { status: 0, response: null };
    const session = await this.session(async (request) => {
      const response = await this.send(request);
      if (!isRefusal(response) && seen.response === null) {
        seen.status = response.status;
        seen.response = response;
      }
      return response;
    });
    if (isRefusal(session)) {
      if (seen.status === 401 || seen.status === 403) return this.unauthorized();
      return {
        status: "inconclusive",
        detail: seen.status === 0 ? explained(session) : `The server answered ${seen.status} and spoke neither dialect.`,
      };
    }
    const inSession = sessionHeaders(session);
    const discovery = await this.found(
      "handshake",
      session.version,
      session.serverInfo,
      { capabilities: session.capabilities, instructions: session.instructions },
      async (method, params) => {
        const id = session.nextId++;
        const response = await this.post(requestText(id, method, JSON.stringify(params)), inSession);
        if (isRefusal(response) || !response.ok) return null;
        return finalMessage(upstreamMessages(response), id);
      },
    );
    await endSession(session, this.send, this.abort);
    return discovery;
  }

  private async found(
    dialect: "handshake" | "stateless",
    version: string,
    info: JsonValue | undefined,
    result: JsonObject,
    ask: (method: string, params: JsonObject) => Promise<UpstreamMessage | null>,
  ): Promise<Discovery> {
    const capabilities = isObject(result.capabilities) ? result.capabilities : {};
    const list = async (capability: string, method: string, member: string): Promise<JsonValue[] | null> => {
      if (capabilities[capability] === undefined) return [];
      const pages: JsonValue[][] = [];
      let params: JsonObject = {};
      let listed = 0;
      while (pages.length < MAX_PAGES && listed <= MAX_LISTED) {
        const message = await ask(method, params);
        const answer = message?.value.result;
        listed += message?.text.length ?? 0;
        // With a partial list, everything missing would appear to be deleted.
        if (!isObject(answer) || !Array.isArray(answer[member])) return null;
        pages.push(answer[member]);
        const cursor = nextCursor(answer);
        if (cursor === null) return pages.flat();
        params = { cursor };
      }
      return null;
    };
    const tools = await list("tools", "tools/list", "tools");
    if (tools === null) return { status: "inconclusive", detail: "The server did not list its tools to the end." };
    const toolIndex = listedTools(tools);
    // Every process keeps the index of every server in memory and reloads it on each change.
    if (areTooMany(toolIndex)) return { status: "inconclusive", detail: "The server lists more tools, or longer names, than can be kept." };
    const text = (value: JsonValue | undefined) => (typeof value === "string" ? value.slice(0, 500) : null);
    const serverInfo = isObject(info) ? info : {};
    return {
      status: "found",
      detail: `The server speaks the ${dialect} dialect (${version}) and has ${tools.length} tools.`,
      found: storableValue({
        dialect,
        protocolVersion: version,
        serverName: text(serverInfo.name),
        serverVersion: text(serverInfo.version),
        serverInfo: furtherInfo(serverInfo),
        capabilities,
        instructions: longestInstructions(result.instructions),
        handshake: null,
        tools,
        toolIndex,
        prompts: (await list("prompts", "prompts/list", "prompts")) ?? [],
        resources: (await list("resources", "resources/list", "resources")) ?? [],
        resourceTemplates: (await list("resources", "resources/templates/list", "resourceTemplates")) ?? [],
      } satisfies DiscoveredServer) as DiscoveredServer,
    };
  }

  /** Returns a result for answers that are no evidence of any dialect, else null. */
  private async barred(response: Response): Promise<Discovery | null> {
    if (response.status === 401 || response.status === 403) {
      await cancelQuietly(response.body);
      return this.unauthorized();
    }
    if (response.status >= 500) {
      await cancelQuietly(response.body);
      return { status: "inconclusive", detail: `The server answered ${response.status}.` };
    }
    return null;
  }

  private async unauthorized(): Promise<Discovery> {
    return {
      status: "unauthorized",
      detail: "The server asks for a credential it was not shown, or refused the one it was.",
      oauth: await describeServer(this.send, this.allowPrivate, this.server.url),
    };
  }

  private credential(): Record<string, string> {
    return this.server.authType === "bearer" && this.server.credential !== null
      ? { authorization: `Bearer ${this.server.credential}` }
      : {};
  }

  private post(body: string, headers: Record<string, string>) {
    return this.send({
      url: this.server.url,
      method: "POST",
      headers: { ...JSON_AND_EVENTS, ...this.credential(), ...headers },
      body,
      abort: this.abort,
      timeoutMs: this.timeoutMs,
    });
  }
}

/** Members of `serverInfo` besides name and version, per the latest protocol revisions. */
const FURTHER_INFO = ["title", "description", "websiteUrl", "icons"] as const;
const MAX_INFO_LENGTH = 64 * 1024;

/** Null if there are none, or too much to store. */
function furtherInfo(serverInfo: JsonObject): DiscoveredServer["serverInfo"] {
  const infoTexts = FURTHER_INFO.flatMap((name) => (serverInfo[name] == null ? [] : [[name, serverInfo[name]] as const]));
  return infoTexts.length === 0 || JSON.stringify(infoTexts).length > MAX_INFO_LENGTH ? null : Object.fromEntries(infoTexts);
}

function mayHoldMessage(response: Response): boolean {
  return isEventStream(response) || response.headers.get("content-type")?.includes("json") === true;
}
