import type { JsonObject, JsonValue } from "../../kernel/json-value.ts";
import { filledOf, looseListOf, numberOf, objectOf, objectsOf, stringOf, textOrJson } from "../openai/loose-fields.ts";
import { openAiToolNames } from "../openai/offered-tools.ts";

/**
 * A kind of tool that clients run and whose calls are separate item types. Formats that have only functions get a function
 * with a fixed schema; its calls are returned to the client as the original item type.
 */
export interface ClientTool {
  readonly call: string;
  readonly output: string;
  /** The prefix of such items' IDs. */
  readonly prefix: "ctc" | "lsh" | "sh" | "apc" | "tsc";
  describe(tool: JsonObject): { readonly description: string; readonly schema: JsonObject };
  /** The function's arguments, from an item of the history. */
  argumentsOf(item: JsonObject): JsonObject;
  /** The members specific to a call's item. `given` is null if the model did not write a JSON object. */
  membersOf(given: JsonObject | null, written: string): JsonObject;
  /** The result for the model to read. */
  resultOf(item: JsonObject): unknown;
}

const TEXT = { type: "string" } as const;
const TEXTS = { type: "array", items: TEXT } as const;
const NUMBER = { type: "number" } as const;

function schemaOf(properties: JsonObject, required: string[]): JsonObject {
  return { type: "object", properties, required, additionalProperties: false };
}

/** The members of `from` that are neither undefined nor null. */
function present(from: JsonObject, names: readonly string[]): JsonObject {
  return Object.fromEntries(names.flatMap((name) => (from[name] === undefined || from[name] === null ? [] : [[name, from[name]]])));
}

const custom: ClientTool = {
  call: "custom_tool_call",
  output: "custom_tool_call_output",
  prefix: "ctc",
  describe(tool) {
    const format = objectOf(tool.format);
    const definition = filledOf(format?.definition);
    const rule = definition === null ? "" : `\n\nThe input follows this grammar (${filledOf(format?.syntax) ?? "lark"}):\n${definition}`;
    return {
      description: `${stringOf(tool.description) ?? ""}${rule}`,
      schema: schemaOf({ input: { ...TEXT, description: "The whole input of the tool, as the plain text that it takes." } }, ["input"]),
    };
  },
  argumentsOf: (item) => ({ input: stringOf(item.input) ?? "" }),
  membersOf: (given, written) => ({ input: textOrJson(given?.input) ?? written }),
  resultOf: (item) => item.output,
};

const localShell: ClientTool = {
  call: "local_shell_call",
  output: "local_shell_call_output",
  prefix: "lsh",
  describe: () => ({
    description: "Runs a command on the user's machine and returns its output.",
    schema: schemaOf(
      {
        command: { ...TEXTS, description: "The program and its arguments." },
        working_directory: TEXT,
        timeout_ms: NUMBER,
        env: { type: "object", additionalProperties: TEXT },
      },
      ["command"],
    ),
  }),
  argumentsOf(item) {
    const action = objectOf(item.action) ?? {};
    const env = Object.keys(objectOf(action.env) ?? {}).length > 0 ? ["env"] : [];
    return present(action, ["command", "working_directory", "timeout_ms", ...env]);
  },
  membersOf: (given, written) => ({
    action: {
      type: "exec",
      command: commands(given?.command, written),
      env: objectOf(given?.env) ?? {},
      ...present(given ?? {}, ["working_directory", "timeout_ms"]),
    },
  }),
  resultOf: (item) => item.output,
};

const shell: ClientTool = {
  call: "shell_call",
  output: "shell_call_output",
  prefix: "sh",
  describe: () => ({
    description: "Runs shell commands on the user's machine and returns what they print.",
    schema: schemaOf(
      { commands: { ...TEXTS, description: "Each runs in a shell of its own." }, timeout_ms: NUMBER, max_output_length: NUMBER },
      ["commands"],
    ),
  }),
  argumentsOf: (item) => present(objectOf(item.action) ?? {}, ["commands", "timeout_ms", "max_output_length"]),
  membersOf: (given, written) => ({
    action: {
      commands: commands(given?.commands, written),
      timeout_ms: numberOf(given?.timeout_ms),
      max_output_length: numberOf(given?.max_output_length),
    },
  }),
  resultOf: (item) => textOrJson(item.output),
};

const applyPatch: ClientTool = {
  call: "apply_patch_call",
  output: "apply_patch_call_output",
  prefix: "apc",
  describe: () => ({
    description:
      "Creates, updates or deletes one file. `diff` is a V4A diff: lines of context begin with a blank, removed lines with -, " +
      "added lines with +, and @@ begins a section. A file that is created has added lines alone; one that is deleted has no diff.",
    schema: schemaOf({ type: { ...TEXT, enum: ["create_file", "update_file", "delete_file"] }, path: TEXT, diff: TEXT }, ["type", "path"]),
  }),
  argumentsOf: (item) => present(objectOf(item.operation) ?? {}, ["type", "path", "diff"]),
  membersOf: (given, written) => ({
    operation: given === null ? { type: "update_file", path: "", diff: written } : present(given, ["type", "path", "diff"]),
  }),
  resultOf: (item) => filledOf(item.output) ?? filledOf(item.status) ?? "",
};

const toolSearch: ClientTool = {
  call: "tool_search_call",
  output: "tool_search_output",
  prefix: "tsc",
  describe: (tool) => ({
    description: stringOf(tool.description) ?? "Finds tools for what is to be done. Those it finds can be called afterwards.",
    schema: objectOf(tool.parameters) ?? schemaOf({ query: TEXT }, ["query"]),
  }),
  argumentsOf: (item) => objectOf(item.arguments) ?? {},
  membersOf: (given, written) => ({ execution: "client", arguments: given ?? { query: written } }),
  resultOf: (item) => `Tools found: ${openAiToolNames(item.tools).join(", ") || "none"}`,
};

/** By the type in the tool's definition. */
export const CLIENT_TOOLS: Readonly<Record<string, ClientTool>> = {
  custom,
  local_shell: localShell,
  shell,
  apply_patch: applyPatch,
  tool_search: toolSearch,
};

const CALLS = new Map(Object.entries(CLIENT_TOOLS).map(([type, tool]) => [tool.call, [type, tool] as const]));
const OUTPUTS = new Map(Object.values(CLIENT_TOOLS).map((tool) => [tool.output, tool]));

/** The kind of tool that an item of the history calls; null if it is not such a call. */
export function calledBy(item: JsonObject): readonly [type: string, tool: ClientTool] | null {
  return CALLS.get(filledOf(item.type) ?? "") ?? null;
}

/** The kind of tool whose result an item of the history is; null if it is not such a result. */
export function answeredBy(item: JsonObject): ClientTool | null {
  return OUTPUTS.get(filledOf(item.type) ?? "") ?? null;
}

/** All tool definitions of a request: its own, and those among its input items. */
export function* toolDefinitions(body: JsonObject): Generator<readonly [tool: JsonObject, field: string]> {
  for (const [tool, i] of objectsOf(body.tools)) yield [tool, `tools[${i}]`];
  for (const [item, i] of objectsOf(body.input)) for (const [tool, j] of objectsOf(item.tools)) yield [tool, `input[${i}].tools[${j}]`];
}

function commands(given: unknown, written: string): JsonValue[] {
  if (typeof given === "string") return [given];
  const texts = looseListOf(given).flatMap((part) => textOrJson(part) ?? []);
  return texts.length > 0 ? texts : [written];
}
