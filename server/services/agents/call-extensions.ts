import { type Refusal, refuse } from "../../kernel/errors.ts";
import type { Call } from "../../road/call.ts";
import type { AgentRoute } from "../../road/target.ts";
import { declaredExtensions, EXTENSION_HEADERS, extensionsIn } from "../../wire/a2a/extensions.ts";
import type { AgentVersion } from "../../wire/a2a/agent-requests.ts";
import type { JsonValue } from "../../kernel/json-value.ts";

/** The protocol extensions that a caller requested and those that the agent activated. */
export class CallExtensions {
  private readonly call: Call;
  private readonly agent: AgentRoute["agent"];
  private readonly asked: readonly string[];
  private activated: readonly string[] = [];

  constructor(call: Call, { agent }: AgentRoute) {
    this.call = call;
    this.agent = agent;
    this.asked = extensionsIn(call.headers);
  }

  /** Refuses a caller who does not name an extension that the agent's card requires. */
  get missing(): Refusal | null {
    const declared = declaredExtensions(this.agent.reached?.card.capabilities as JsonValue | undefined);
    const missing = declared.filter(({ uri, required }) => required && !this.asked.includes(uri)).map(({ uri }) => uri);
    if (missing.length === 0) return null;
    return refuse("agent_extension_required", `The agent requires extensions that A2A-Extensions does not name: ${missing.join(", ")}.`);
  }

  /** Request headers for the agent. */
  get headers(): Record<string, string> {
    return this.asked.length === 0 ? {} : { [EXTENSION_HEADERS[this.agent.reached?.version ?? "1.0"]]: this.asked.join(", ") };
  }

  /** Records the activated extensions from the headers of the agent's answer. */
  readonly noteAnswered = (answered: Headers): void => {
    const taken = new Set(extensionsIn(answered));
    this.activated = this.asked.filter((uri) => taken.has(uri));
    if (this.activated.length === 0) return;
    const { row } = this.call;
    row.custom_metadata = { ...(row.custom_metadata as object | null | undefined), a2a_extensions: this.activated.slice(0, 10) };
  };

  /** Response headers for the caller. */
  responseHeaders(version: AgentVersion): Record<string, string> {
    return this.activated.length === 0 ? {} : { [EXTENSION_HEADERS[version]]: this.activated.join(", ") };
  }
}
