import type { GuardrailSurface } from "@gatehouse/contracts/guardrails";

interface SurfaceFacts {
  readonly direction: "input" | "output";
  /** Audit subtypes of the calls guarded here; empty while the surface is not served yet. */
  readonly subtypes: readonly string[];
}

const CONVERSATIONS = [
  "chat_completions",
  "responses",
  "responses_compact",
  "completions",
  "anthropic_messages",
  "gemini_generate_content",
  "gemini_stream_generate_content",
  "realtime_response",
] as const;

/** Lines of batch jobs, one subtype for each format. */
const BATCH_TALKS = [
  "batch_line_chat_completions",
  "batch_line_responses",
  "batch_line_completions",
  "batch_line_anthropic_messages",
] as const;
/** Prefix of a batch line's audit subtype; the rest is the subtype of the same call made directly. */
const LINE = "batch_line_";

const AGENT_CALLS = [
  "message_send",
  "message_stream",
  "task_list",
  "task_get",
  "task_cancel",
  "task_subscribe",
  "push_config_create",
  "push_config_list",
  "push_config_get",
  "push_config_delete",
  "a2a_inbound",
  "a2a_outbound",
] as const;

/** Every guardrail surface and the calls it covers. */
export const SURFACES: Readonly<Record<GuardrailSurface, SurfaceFacts>> = {
  // Token counting sends the text to the vendor like any other request.
  chat_input: {
    direction: "input",
    subtypes: [...CONVERSATIONS, "anthropic_count_tokens", "gemini_count_tokens", "responses_input_tokens"],
  },
  // The output of a background response first reaches its caller when it is retrieved.
  chat_output: { direction: "output", subtypes: [...CONVERSATIONS, "response_retrieve", "response_cancel", "response_input_items"] },
  embeddings_input: { direction: "input", subtypes: ["embeddings", "gemini_embed_content", "gemini_batch_embed_contents", "rerank"] },
  image_gen_input: { direction: "input", subtypes: ["image_generations", "image_edits"] },
  image_gen_output: { direction: "output", subtypes: ["image_generations", "image_edits"] },
  audio_tts_input: { direction: "input", subtypes: ["audio_speech"] },
  audio_tts_output: { direction: "output", subtypes: [] },
  audio_stt_input: { direction: "input", subtypes: ["audio_transcriptions", "audio_translations"] },
  audio_stt_output: { direction: "output", subtypes: ["audio_transcriptions", "audio_translations"] },
  video_gen_input: { direction: "input", subtypes: ["video_generations"] },
  video_gen_output: { direction: "output", subtypes: ["video_generations", "video_job", "video_cancel"] },
  batch_input: { direction: "input", subtypes: [...BATCH_TALKS, "batch_line_embeddings", "batch_line_moderations"] },
  batch_output: { direction: "output", subtypes: BATCH_TALKS },
  moderation_input: { direction: "input", subtypes: ["moderations"] },
  mcp_input: { direction: "input", subtypes: ["mcp_jsonrpc", "mcp_sub_path"] },
  mcp_output: { direction: "output", subtypes: ["mcp_jsonrpc", "mcp_sub_path", "sse_stream", "mcp_app_resource"] },
  // Inspected when tools are listed or called by name (see road/gates.ts), in addition to the content of the call.
  mcp_registration: { direction: "input", subtypes: [] },
  skill_input: { direction: "input", subtypes: ["skill_jsonrpc"] },
  skill_output: { direction: "output", subtypes: ["skill_jsonrpc"] },
  a2a_inbound: { direction: "input", subtypes: AGENT_CALLS },
  a2a_outbound: { direction: "output", subtypes: AGENT_CALLS },
};

const bySubtype = { input: new Map<string, GuardrailSurface>(), output: new Map<string, GuardrailSurface>() };
for (const [surface, { direction, subtypes }] of Object.entries(SURFACES))
  for (const subtype of subtypes) bySubtype[direction].set(subtype, surface as GuardrailSurface);

/**
 * The surfaces at which content of `surface` is inspected, `surface` first. A batch line is also inspected where the same call made
 * directly would be, so that batches cannot bypass a guardrail.
 */
export function guardedAt(proxySubtype: string, surface: GuardrailSurface): readonly [GuardrailSurface, ...GuardrailSurface[]] {
  if (surface !== "batch_input" && surface !== "batch_output") return [surface];
  const byItself = proxySubtype.startsWith(LINE) ? surfaceOf(proxySubtype.slice(LINE.length), SURFACES[surface].direction) : null;
  return byItself === null ? [surface] : [surface, byItself];
}

/** The guardrail surface of calls with this audit subtype; null if they have none. */
export function surfaceOf(proxySubtype: string, direction: "input" | "output"): GuardrailSurface | null {
  return bySubtype[direction].get(proxySubtype) ?? null;
}
