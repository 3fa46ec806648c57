/** Audit subtypes of `llm` whose calls do not reach a model. */
export const SUBTYPES_WITHOUT_MODEL = [
  ...["models_list", "model_detail", "gemini_models_list", "gemini_model_detail"],
  ...["file_upload", "file_list", "file_detail", "file_url", "file_content", "file_delete"],
  // Calls about a video job, and its result: the model was called when the job was submitted.
  ...["video_job", "video_list", "video_content", "video_cancel", "video_delete", "video_end"],
  // Calls about a stored response, and the usage of one generated in the background.
  ...["response_retrieve", "response_cancel", "response_delete", "response_input_items", "response_end"],
] as const;
