import type { RequestView, TextSlot } from "../../governance/view.ts";
import type { ChatRequest } from "../../wire/openai/chat-request.ts";
import { type Edits, editMembers, membersOf } from "../../wire/json-members.ts";

type Body = Record<string, unknown>;
interface Message extends Body {
  role: string;
  content?: unknown;
}

const ROLES: Readonly<Record<string, TextSlot["role"]>> = { system: "system", developer: "system", user: "user", assistant: "assistant", tool: "tool", function: "tool" };

/**
 * A chat request as controls see and change it. A change is made to the parsed value and marks its member; `request`
 * then writes only the marked members anew, so that everything else leaves byte for byte as it came.
 */
export class ChatView implements RequestView {
  readonly model;
  readonly streaming: boolean;
  readonly candidates: number;
  readonly inputCharacters: number;
  private readonly source: ChatRequest;
  private readonly body: Body;
  private readonly messages: Message[];
  private readonly edited = new Map<string, unknown>();

  constructor(source: ChatRequest) {
    this.source = source;
    this.body = source.body as Body;
    this.messages = source.messages as Message[];
    this.model = { name: source.model, id: source.modelId, mode: "chat" };
    this.streaming = source.stream;
    const { n } = this.body;
    this.candidates = typeof n === "number" && Number.isSafeInteger(n) && n > 0 ? n : 1;
    let characters = 0;
    for (const message of this.messages) characters += textOf(message.content).length;
    this.inputCharacters = characters;
  }

  get temperature(): number | null {
    return this.edited.has("temperature") ? (this.edited.get("temperature") as number) : this.source.temperature;
  }

  set temperature(value: number | null) {
    this.edited.set("temperature", value);
  }

  get maxTokens(): number | null {
    const name = this.maxTokensMember();
    return this.edited.has(name) ? (this.edited.get(name) as number) : this.source.maxTokens;
  }

  set maxTokens(value: number | null) {
    this.edited.set(this.maxTokensMember(), value);
    // Of the two names only one may speak.
    if (this.body["max_tokens"] != null && this.body["max_completion_tokens"] != null) this.edited.set("max_tokens", undefined);
  }

  get tools(): readonly string[] {
    return [...toolNames(this.currentTools("tools")), ...toolNames(this.currentTools("functions"))];
  }

  removeTools(names: ReadonlySet<string>): void {
    for (const member of ["tools", "functions"] as const) {
      const before = this.currentTools(member);
      const kept = before.filter((tool) => !names.has(toolName(tool) ?? ""));
      if (kept.length !== before.length) this.edited.set(member, kept.length === 0 ? undefined : kept);
    }
    const left = this.tools;
    for (const member of ["tool_choice", "function_call"] as const) {
      const choice = this.body[member];
      const forced = typeof choice === "object" && choice !== null ? toolName(choice) : null;
      if ((forced !== null && names.has(forced)) || (left.length === 0 && choice !== undefined)) this.edited.set(member, undefined);
    }
    if (left.length === 0 && this.body["parallel_tool_calls"] !== undefined) this.edited.set("parallel_tool_calls", undefined);
  }

  get instructions(): string | null {
    let found: string | null = null;
    for (const { role, content } of this.messages) if (ROLES[role] === "system") found = found === null ? textOf(content) : `${found}\n${textOf(content)}`;
    return found;
  }

  addInstructions(before: readonly string[], after: readonly string[]): void {
    const system = (content: string): Message => ({ role: "system", content });
    let last = -1;
    for (const [i, { role }] of this.messages.entries()) {
      if (ROLES[role] !== "system") break;
      last = i;
    }
    this.messages.splice(last + 1, 0, ...after.map(system));
    this.messages.unshift(...before.map(system));
    this.edited.set("messages", this.messages);
  }

  texts(): readonly TextSlot[] {
    const slots: TextSlot[] = [];
    for (const message of this.messages) {
      const role = ROLES[message.role] ?? "user";
      const { content } = message;
      if (typeof content === "string") slots.push(this.slot(role, content, (text) => (message.content = text)));
      else if (Array.isArray(content)) {
        for (const part of content as Body[]) if (typeof part?.["text"] === "string") slots.push(this.slot(role, part["text"], (text) => (part["text"] = text)));
      }
    }
    return slots;
  }

  /** The request as the controls left it. */
  get request(): ChatRequest {
    if (this.edited.size === 0) return this.source;
    const edits = new Map<string, string | null>();
    for (const [name, value] of this.edited) edits.set(name, value === undefined || value === null ? null : JSON.stringify(value));
    const text = editMembers(this.source.text, this.source.members, edits satisfies Edits);
    return { ...this.source, text, members: membersOf(text), temperature: this.temperature, maxTokens: this.maxTokens, offersTools: this.tools.length > 0 };
  }

  private slot(role: TextSlot["role"], text: string, put: (text: string) => void): TextSlot {
    return {
      role,
      text,
      replace: (next) => {
        put(next);
        this.edited.set("messages", this.messages);
      },
    };
  }

  private currentTools(member: "tools" | "functions"): readonly unknown[] {
    const value = this.edited.has(member) ? this.edited.get(member) : this.body[member];
    return Array.isArray(value) ? value : [];
  }

  private maxTokensMember(): "max_completion_tokens" | "max_tokens" {
    return this.body["max_completion_tokens"] != null ? "max_completion_tokens" : "max_tokens";
  }
}

function toolName(tool: unknown): string | null {
  const { name, function: inner } = (tool ?? {}) as { name?: unknown; function?: { name?: unknown } };
  if (typeof inner?.name === "string") return inner.name;
  return typeof name === "string" ? name : null;
}

function toolNames(tools: readonly unknown[]): string[] {
  return tools.flatMap((tool) => toolName(tool) ?? []);
}

function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  let text = "";
  for (const part of content as { text?: unknown }[]) if (typeof part?.text === "string") text += part.text;
  return text;
}
