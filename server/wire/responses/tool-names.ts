import { ownEntry } from "../../kernel/collections/own-entry.ts";
import type { Tool } from "../conversation/request.ts";
import type { JsonObject } from "../../kernel/json-value.ts";
import type { FieldProblem } from "../json/document.ts";
import { sha256Hex } from "../../kernel/secrets.ts";
import { cacheHint } from "../openai/chat/content-reader.ts";
import { booleanOf, filledOf, objectOf, objectsOf, stringOf } from "../openai/loose-fields.ts";
import { lostMembers } from "../openai/function-tools.ts";
import { NOT_ELSEWHERE } from "../openai/read-report.ts";
import { CLIENT_TOOLS, toolDefinitions } from "./client-tools.ts";

/** Vendor tools that run without the client, and that can be left out without breaking the conversation. */
const LEFT_OUT = /^(?:web_search(?:_preview)?(?:_\d{4}_\d{2}_\d{2})?|image_generation)$/;

const MAX_LENGTH = 64;
const NOT_IN_NAMES = /[^A-Za-z0-9_-]/g;

/** A tool as defined by the caller. */
export interface OwnTool {
  /** `function`, or a kind of `CLIENT_TOOLS`. */
  readonly kind: string;
  readonly name: string;
  readonly namespace: string | null;
}

/**
 * A request's tools for formats that only have functions: namespaces are flattened, and each tool gets a unique name. The
 * mapping is deterministic, so that calls in the answer can be mapped back.
 */
export class ToolNames {
  readonly tools: Tool[] = [];
  /** Types of tools that were left out. */
  readonly leftOut = new Set<string>();
  /** Members of tools that the neutral form does not have. */
  readonly lost = new Set<string>();
  readonly problems: FieldProblem[] = [];
  private readonly own = new Map<string, OwnTool>();
  private readonly names = new Map<string, string>();

  constructor(request: JsonObject) {
    for (const [tool, field] of toolDefinitions(request)) this.offer(tool, field, null);
  }

  /** The unique name of a caller's tool. */
  nameOf(tool: OwnTool): string {
    return this.names.get(keyOf(tool)) ?? oneName(tool);
  }

  /** The caller's tool with this unique name; an unknown name is taken for a function. */
  ownOf(name: string): OwnTool {
    return this.own.get(name) ?? { kind: "function", name, namespace: null };
  }

  private offer(tool: JsonObject, field: string, namespace: string | null): void {
    const type = filledOf(tool.type) ?? "function";
    const name = filledOf(tool.name);
    if (type === "namespace" && name !== null) {
      for (const [inner, i] of objectsOf(tool.tools)) this.offer(inner, `${field}.tools[${i}]`, name);
    } else if (type === "function" && name !== null) {
      for (const member of lostMembers(tool)) this.lost.add(`${field}.${member}`);
      this.add(
        { kind: type, name, namespace },
        { description: stringOf(tool.description), schema: objectOf(tool.parameters), strict: booleanOf(tool.strict), ...cacheHint(tool) },
      );
    } else if (LEFT_OUT.test(type) || (type === "tool_search" && tool.execution !== "client")) {
      this.leftOut.add(type);
    } else {
      const kind = ownEntry(CLIENT_TOOLS, type);
      if (kind === undefined || (type === "custom" && name === null) || isHosted(tool))
        this.problems.push({ field, message: `${NOT_ELSEWHERE}: ${JSON.stringify(type)} is a tool of the vendor's own` });
      else {
        this.add({ kind: type, name: (type === "custom" ? name : null) ?? type, namespace }, { ...kind.describe(tool), strict: null });
      }
    }
  }

  private add(own: OwnTool, tool: Omit<Tool, "name">): void {
    const key = keyOf(own);
    if (this.names.has(key)) return;
    const plain = oneName(own);
    const name = this.own.has(plain) ? marked(plain, key) : plain;
    this.names.set(key, name);
    this.own.set(name, own);
    this.tools.push({ name, ...tool });
  }
}

function keyOf({ kind, namespace, name }: OwnTool): string {
  return JSON.stringify([kind, namespace, name]);
}

function oneName({ kind, namespace, name }: OwnTool): string {
  if (namespace === null) return name;
  const joined = `${namespace}__${name}`;
  const plain = joined.replace(NOT_IN_NAMES, "_");
  return plain === joined && plain.length <= MAX_LENGTH ? plain : marked(plain, keyOf({ kind, namespace, name }));
}

/** Adds a hash, to distinguish names that become equal when shortened or sanitized. */
function marked(name: string, key: string): string {
  return `${name.slice(0, MAX_LENGTH - 9)}_${sha256Hex(key).slice(0, 8)}`;
}

/** A shell that runs at the vendor. */
function isHosted(tool: JsonObject): boolean {
  const where = objectOf(tool.environment)?.type;
  return where !== undefined && where !== "local";
}
