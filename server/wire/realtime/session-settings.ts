import { isObject, type JsonObject } from "../../kernel/json-value.ts";
import { objectOf, objectsOf } from "../openai/loose-fields.ts";
import { type EventProblem, problem } from "./event-problem.ts";

/** Settings that the gateway keeps and adds to each response, once governance has seen them. */
export const HELD_SETTINGS = [
  "instructions",
  "tools",
  "tool_choice",
  "max_output_tokens",
  "parallel_tool_calls",
  "prompt",
  "reasoning",
] as const;
/** Settings of a session that its provider keeps. */
export const PASSED_SETTINGS: ReadonlySet<string> = new Set(["type", "output_modalities", "audio", "truncation"]);
/** Settings of a single response. */
const RESPONSE_SETTINGS = [...HELD_SETTINGS, "metadata", "output_modalities", "audio"] as const;
export const OF_RESPONSE: ReadonlySet<string> = new Set([...RESPONSE_SETTINGS, "conversation", "input"]);

/** OpenAI's turn detection where a client asks for none. */
export const DEFAULT_TURNS: JsonObject = { type: "server_vad" };
const INPUT_AUDIO_SETTINGS: ReadonlySet<string> = new Set(["format", "noise_reduction", "turn_detection"]);
const UNGOVERNED = "A second model would transcribe the audio, outside of access rules and cost. Leave it out.";

/** What is wrong with the settings of the audio that callers send; null if nothing is. */
function inputAudioProblem(audio: JsonObject, within: string): EventProblem | null {
  const { input } = audio;
  if (input === undefined) return null;
  if (!isObject(input)) return problem("invalid_event", "audio.input has to be an object.", within);
  const { transcription, turn_detection: turns } = input;
  if (transcription != null) return problem("unsupported_parameter", UNGOVERNED, `${within}.transcription`);
  delete input.transcription;
  const unknown = Object.keys(input).find((name) => !INPUT_AUDIO_SETTINGS.has(name));
  if (unknown !== undefined)
    return problem(
      "unsupported_parameter",
      `The gateway knows no setting ${unknown.slice(0, 100)} of input audio.`,
      `${within}.${unknown}`,
    );
  if (turns != null && !isObject(turns))
    return problem("invalid_event", "turn_detection has to be an object or null.", `${within}.turn_detection`);
  if (turns?.idle_timeout_ms != null)
    return problem(
      "unsupported_parameter",
      "The provider would respond by itself. Leave it out.",
      `${within}.turn_detection.idle_timeout_ms`,
    );
  return null;
}

/** A session as the client knows it: with the settings that the gateway keeps, and responses made as the client asked. */
export function toldSession(session: JsonObject, held: JsonObject, createsResponses: boolean): JsonObject {
  const audio = objectOf(session.audio);
  const input = objectOf(audio?.input);
  const turns = objectOf(input?.turn_detection);
  const told = { ...session, ...held };
  return turns === null
    ? told
    : { ...told, audio: { ...audio, input: { ...input, turn_detection: { ...turns, create_response: createsResponses } } } };
}

export function settingsProblem(settings: JsonObject, within: string): EventProblem | null {
  const { instructions, tools, tool_choice: choice, max_output_tokens: most, audio } = settings;
  if (instructions !== undefined && typeof instructions !== "string")
    return problem("invalid_event", "instructions has to be a string.", `${within}.instructions`);
  if (most !== undefined && most !== "inf" && !(typeof most === "number" && Number.isSafeInteger(most) && most >= 1))
    return problem("invalid_event", 'max_output_tokens has to be a positive integer or "inf".', `${within}.max_output_tokens`);
  if (tools !== undefined && !Array.isArray(tools)) return problem("invalid_event", "tools has to be an array.", `${within}.tools`);
  for (const [at, tool] of (tools ?? []).entries())
    if (!isObject(tool) || tool.type !== "function" || typeof tool.name !== "string")
      return problem("unsupported_parameter", "Only function tools with a name are served.", `${within}.tools[${at}]`);
  if (isObject(choice) && choice.type !== "function")
    return problem("unsupported_parameter", "Only a function can be chosen.", `${within}.tool_choice`);
  if (audio !== undefined && !isObject(audio)) return problem("invalid_event", "audio has to be an object.", `${within}.audio`);
  return isObject(audio) ? inputAudioProblem(audio, `${within}.audio.input`) : null;
}

/** The part of an update that its provider is told. `input`: the settings of input audio; null where that is refused. */
export function passedSettings(session: JsonObject, input: JsonObject | null): JsonObject {
  const passed: JsonObject = {};
  for (const name of PASSED_SETTINGS) if (session[name] !== undefined) passed[name] = session[name];
  const audio = objectOf(session.audio);
  if (audio !== null || input !== null)
    passed.audio = { ...(audio?.output !== undefined && { output: audio.output }), ...(input !== null && { input }) };
  return { ...passed, type: "realtime" };
}

/** The response's request as governance reads it: in OpenAI's Responses format. `held`: the settings of the session. */
export function governedBody(modelId: string, held: JsonObject, response: JsonObject, items: readonly JsonObject[]): string {
  const { conversation: _conversation, input: _input, ...own } = response;
  const settings: JsonObject = { ...held, ...own };
  if (settings.max_output_tokens === "inf") delete settings.max_output_tokens;
  return JSON.stringify({ model_id: modelId, stream: true, ...settings, input: items });
}

/** The settings and items that governance let pass, of the body it returned. */
export function passedRequest(body: string): { readonly settings: JsonObject; readonly items: readonly JsonObject[] } {
  const all = JSON.parse(body) as JsonObject;
  const settings: JsonObject = {};
  for (const name of RESPONSE_SETTINGS) if (all[name] !== undefined) settings[name] = all[name];
  return { settings: { ...settings, tools: all.tools ?? [] }, items: objectsOf(all.input).map(([item]) => item) };
}
