/**
 * What a provider can be asked for, each in its own wire format. `gemini_array` is `gemini` streamed as one JSON array
 * instead of events.
 */
export type ProviderOperation =
  | "chat"
  | "responses"
  | "completions"
  | "embeddings"
  | "images"
  | "image_edits"
  | "speech"
  | "transcriptions"
  | "translations"
  | "moderations"
  | "videos"
  | "messages"
  | "count_tokens"
  | "gemini"
  | "gemini_array"
  | "gemini_count"
  | "gemini_embed"
  | "gemini_images"
  | "gemini_speech"
  | "imagen"
  | "gemini_interactions"
  | "veo"
  | "converse"
  | "bedrock_embed"
  | "bedrock_images"
  | "bedrock_async";
