import { type JsonDocument } from "../json/document.ts";
import type { OutboundChanges, TextSlot } from "../inbound.ts";
import { knownMembers, otherTexts } from "../texts/other-texts.ts";
import { NOTHING_SENT, type SentSettings } from "../sent-settings.ts";
import { GeminiRequest } from "./gemini-request.ts";
import { spellingIn } from "./member-names.ts";
import { member } from "./members.ts";
import { qualifiedModel } from "./model-name.ts";

const KNOWN = knownMembers({ read: "generateContentRequest generate_content_request" });

/**
 * A countTokens request for the body that a call would send, without defaults that do not affect the count. The short form
 * has no instructions, so it is converted to the full form if the gateway adds some.
 */
export class GeminiCountRequest extends GeminiRequest {
  private readonly outer: { readonly document: JsonDocument; readonly name: string } | null;
  private readonly hadInstructions: boolean;
  private readonly hadSettings: boolean;

  constructor(document: JsonDocument, model: string, outer: { document: JsonDocument; name: string } | null) {
    super(document, { model, stream: false });
    this.outer = outer;
    this.hadInstructions = this.instructions !== null;
    this.hadSettings = member(document.value, "generationConfig") !== undefined;
  }

  override get repeatedName(): string | null {
    return super.repeatedName ?? this.outer?.document.repeatedName ?? null;
  }

  override texts(): readonly TextSlot[] {
    const { outer } = this;
    return outer === null
      ? super.texts()
      : [...otherTexts(outer.document.value, KNOWN, (name) => outer.document.touch(name)), ...super.texts()];
  }

  override sentSettings(changes: OutboundChanges): SentSettings {
    const { instructions } = super.sentSettings(changes);
    return this.hadSettings
      ? { temperature: this.temperature, maxTokens: this.maxTokens, instructions }
      : { ...NOTHING_SENT, instructions };
  }

  override outbound(changes: OutboundChanges): string {
    const edits: Map<string, string | null> = this.edits({ ...changes, defaultTemperature: null, defaultMaxTokens: null });
    const added = !this.hadInstructions && (changes.systemPrompt !== null || this.instructions !== null);
    // Settings made by controls do not affect the count and have no place in the short form.
    if (!this.hadSettings && member(this.document.value, "generationConfig") !== undefined)
      edits.set(spellingIn(this.document.value, "generationConfig"), null);
    if (this.outer === null && !added) return this.document.text(edits);
    // The provider requires the model here, equal to the one in the URL.
    const model = qualifiedModel(changes.model);
    if (this.document.value.model !== model) edits.set("model", JSON.stringify(model));
    const text = this.document.text(edits);
    return this.outer === null ? `{"generateContentRequest":${text}}` : this.outer.document.text(new Map([[this.outer.name, text]]));
  }
}
