import type { GuardrailSurface } from "@gatehouse/contracts/guardrails";

interface SurfaceFacts {
  readonly direction: "input" | "output";
  /** Audit subtypes of the calls that are guarded here; none while the surface is not served yet. */
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
] as const;

/** Lines of batch jobs, by what each asks for. */
const BATCH_TALKS = [
  "batch_line_chat_completions",
  "batch_line_responses",
  "batch_line_completions",
  "batch_line_anthropic_messages",
] as const;
/** What the audit subtype of a line has in front of that of the same call made by itself. */
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

/** Every place where a guardrail can look, and the calls that pass it. */
export const SURFACES: Readonly<Record<GuardrailSurface, SurfaceFacts>> = {
  // Counting the tokens of a text sends it to the vendor like any other question.
  chat_input: {
    direction: "input",
    subtypes: [...CONVERSATIONS, "anthropic_count_tokens", "gemini_count_tokens", "responses_input_tokens"],
  },
  // What is written in the background first reaches its caller when it is asked for.
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
  // Looked at where tools are listed and called by name (the gates of road/gates.ts), beside what such a call carries.
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
 * Every place where content on its way through `surface` is looked at, that surface first: a line of a batch is looked at
 * where the same call made by itself would be as well, so that nobody gets around a guardrail by way of a batch.
 */
export function guardedAt(proxySubtype: string, surface: GuardrailSurface): readonly [GuardrailSurface, ...GuardrailSurface[]] {
  if (surface !== "batch_input" && surface !== "batch_output") return [surface];
  const byItself = proxySubtype.startsWith(LINE) ? surfaceOf(proxySubtype.slice(LINE.length), SURFACES[surface].direction) : null;
  return byItself === null ? [surface] : [surface, byItself];
}

/** The guardrail surface of calls of this audit subtype; null when they have none. */
export function surfaceOf(proxySubtype: string, direction: "input" | "output"): GuardrailSurface | null {
  return bySubtype[direction].get(proxySubtype) ?? null;
}
