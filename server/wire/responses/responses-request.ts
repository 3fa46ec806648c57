import { definitionTexts } from "../texts/definition-texts.ts";
import { isObject, type JsonObject } from "../../kernel/json-value.ts";
import { type FieldProblem, JsonDocument } from "../json/document.ts";
import type { OutboundChanges, TextSlot } from "../inbound.ts";
import { visitToolTexts } from "../texts/tool-texts.ts";
import { checkInputItems, itemRole } from "./input-items.ts";
import {
  compactionsIn,
  isOwnReference,
  namedItems,
  type PutItems,
  sealsIn,
  withNamedItems,
  withoutStrangeThoughts,
} from "./item-references.ts";
import { BodyChecks } from "../openai/body-checks.ts";
import { filledOf, objectOf, objectsOf, stringOf } from "../openai/loose-fields.ts";
import { openAiToolNames, toolsWithout } from "../openai/offered-tools.ts";
import { openAiMembers, OpenAiRequest } from "../openai/openai-request.ts";
import { visitOthers } from "../texts/other-texts.ts";
import { type RequestVisitor, visitRequestMembers, visitRequestTexts } from "../openai/text-places.ts";

const KNOWN = openAiMembers("input instructions text prompt");
const NONE: ReadonlySet<string> = new Set();
/** Members of an item that are inspected separately. */
const IN_ITEMS: ReadonlySet<string> = new Set(["tools"]);
const IN_TEXT: ReadonlySet<string> = new Set(["format"]);
const IN_PROMPT: ReadonlySet<string> = new Set(["version", "variables"]);

/** A Responses request. Only what governance needs is read; everything else is left to the provider. */
export class ResponsesRequest extends OpenAiRequest {
  protected readonly inputName = "input";
  protected readonly known = KNOWN;
  protected readonly ceilings = ["max_output_tokens"] as const;

  constructor(document: JsonDocument) {
    super(document, null);
  }

  override get candidates(): number {
    return 1;
  }

  /** Input items may contain tools as well. */
  override get tools(): readonly string[] {
    const names = [...super.tools];
    for (const [item] of objectsOf(this.body.input)) if (Array.isArray(item.tools)) names.push(...openAiToolNames(item.tools));
    return names;
  }

  override removeTools(names: ReadonlySet<string>): void {
    super.removeTools(names);
    for (const [item] of objectsOf(this.body.input)) {
      const kept = toolsWithout(item.tools, names);
      if (kept === null) continue;
      item.tools = kept;
      this.changed("input");
    }
  }

  /** The response that this one continues. */
  get previousResponseId(): string | null {
    return filledOf(this.body.previous_response_id);
  }

  /** Whether the response is generated in the background. */
  get background(): boolean {
    return this.body.background === true;
  }

  /** Whether the input references items of the gateway's own answers. */
  get namesItems(): boolean {
    return Array.isArray(this.body.input) && this.body.input.some((item) => isObject(item) && isOwnReference(item));
  }

  /** The IDs of the referenced items that may be stored. */
  get namedItems(): string[] {
    return namedItems(this.body);
  }

  /** Replaces the references with the items they refer to. */
  putNamedItems(kept: ReadonlyMap<string, string>): PutItems {
    const { input } = this.body;
    const { input: whole, ...put } = withNamedItems(Array.isArray(input) ? input : [], kept);
    this.body.input = whole as JsonObject[];
    this.changed("input");
    return put;
  }

  addInstructions(before: readonly string[], after: readonly string[]): void {
    const own = stringOf(this.body.instructions);
    const { input } = this.body;
    const last = Array.isArray(input) ? input.findLastIndex((item) => isObject(item) && itemRole(item) === "system") : -1;
    const inItems = last >= 0 && Array.isArray(input) && after.length > 0;
    // Instructions among the items are read after `instructions`, so text that must be last follows them.
    if (inItems) {
      input.splice(last + 1, 0, { type: "message", role: "developer", content: after.join("\n") });
      this.changed("input");
    }
    const lines = [...before, ...(own === null || own === "" ? [] : [own]), ...(inItems ? [] : after)];
    if (before.length + (inItems ? 0 : after.length) === 0) return;
    this.body.instructions = lines.join("\n");
    this.changed("instructions");
  }

  override definitions(): readonly TextSlot[] {
    const slots = [...super.definitions()];
    for (const [item] of objectsOf(this.body.input))
      slots.push(...definitionTexts({ tools: item.tools }, ["tools"], () => this.changed("input")));
    return slots;
  }

  protected visitAll(visit: RequestVisitor): void {
    visitToolTexts(this.body.tools, (holder) => visit("tool_definition", "text", holder, "description", "tools"));
    visitRequestTexts("system", this.body, "instructions", "instructions", visit);
    for (const [member, except] of [
      ["text", IN_TEXT],
      ["prompt", IN_PROMPT],
    ] as const) {
      const value = this.body[member];
      if (isObject(value)) visitOthers(value, except, (holder, key) => visit("user", "other", holder, key, member));
      else visitRequestTexts("user", this.body, member, member, visit);
    }
    const variables = objectOf(objectOf(this.body.prompt)?.variables);
    if (variables !== null) for (const name of Object.keys(variables)) visitRequestTexts("user", variables, name, "prompt", visit);
    if (typeof this.body.input === "string") visitRequestTexts("user", this.body, "input", "input", visit);
    else {
      for (const [item] of objectsOf(this.body.input)) {
        visitToolTexts(item.tools, (holder) => visit("tool_definition", "text", holder, "description", "input"));
        this.visited = item;
        visitRequestMembers(itemRole(item), item, "input", visit, Array.isArray(item.tools) ? IN_ITEMS : undefined);
        if (item.type === "agent_message")
          for (const [part] of objectsOf(item.content)) visitRequestTexts("user", part, "encrypted_content", "input", visit);
        this.visited = null;
      }
    }
  }

  /** The encrypted contents of reasoning and compacted conversations that the caller sends back. */
  get seals(): string[] {
    return sealsIn(this.body.input);
  }

  get compactions(): string[] {
    return compactionsIn(this.body.input);
  }

  protected override ownEdits(edits: Map<string, string | null>, { foreignSeals = NONE }: OutboundChanges): void {
    const input = withoutStrangeThoughts(this.body.input, foreignSeals);
    if (input !== null) edits.set("input", this.document.written("input", input));
  }

  protected promptEdit(systemPrompt: string): readonly [string, string] {
    const own = stringOf(this.body.instructions);
    return ["instructions", JSON.stringify(own === null || own === "" ? systemPrompt : `${systemPrompt}\n${own}`)];
  }
}

/** `bytes` is the caller's body; each problem names its field. */
export function readResponsesRequest(bytes: Uint8Array): ResponsesRequest | { readonly fields: FieldProblem[] } {
  const document = checkedResponsesBody(bytes);
  return document instanceof JsonDocument ? new ResponsesRequest(document) : document;
}

export function checkedResponsesBody(bytes: Uint8Array): JsonDocument | { readonly fields: FieldProblem[] } {
  const document = JsonDocument.read(bytes);
  if (!(document instanceof JsonDocument)) return { fields: [document] };
  const checks = new BodyChecks(document.value);
  checks.model();
  checkInputItems(document.value, checks);
  checks.string("instructions");
  checks.boolean("stream");
  checks.boolean("store");
  checks.boolean("background");
  checks.string("previous_response_id");
  checks.number("temperature");
  checks.whole("max_output_tokens", 1);
  checks.tools("tools");
  return checks.fields.length > 0 ? { fields: checks.fields } : document;
}
