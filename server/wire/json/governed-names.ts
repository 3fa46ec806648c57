import { folded } from "../../kernel/text/folded-name.ts";

/** Names that a control, a limit or a route reads in any supported protocol, in each protocol's spelling. */
const GOVERNED = `
  model model_id messages role content name text type tools tool functions function tool_choice toolChoice function_call tool_calls
  functionCall functionResponse functionDeclarations function_declarations function_response toolConfig tool_config arguments args
  max_tokens max_completion_tokens max_output_tokens maxTokens maxOutputTokens temperature top_p topP top_k topK n best_of
  candidateCount candidate_count generationConfig generation_config stream stream_options include_usage input prompt instructions
  system systemInstruction system_instruction contents parts response_format parallel_tool_calls id call_id tool_use_id tool_call_id
  image_url image url file file_id file_data file_url filename data source media_type mimeType mime_type inlineData inline_data
  fileData file_data fileUri file_uri input_audio audio modalities thinking reasoning reasoning_effort thinkingConfig thinking_config
  budget_tokens effort previous_response_id conversation store background user metadata stop stop_sequences stopSequences suffix
  dimensions encoding_format web_search_options mcp_servers server_url server_label prediction documents document output refusal
  description parameters input_schema schema json_schema responseSchema response_schema responseJsonSchema response_json_schema
  max_uses max_tool_calls service_tier serviceTier speed inference_geo cachedContent cached_content safetySettings safety_settings generateContentRequest
  generate_content_request googleSearch google_search code_execution codeExecution allowed_tools require_approval
  jsonrpc method params result error code message resources resource prompts resourceTemplates uri uriTemplate blob
  structuredContent isError inputSchema outputSchema annotations title _meta task taskId requestState inputRequests inputResponses
  resultType nextCursor cursor protocolVersion capabilities clientInfo serverInfo elicitation sampling roots action
  requestedSchema systemPrompt requestId ref argument completion level progressToken
  resourceSpans scopeSpans spans attributes key value stringValue traceId spanId parentSpanId
  client_id client_secret redirect_uri redirect_uris grant_type code_verifier refresh_token token scope state outcome
  reasoning_content reasoning_details thinking_blocks custom tool_call call callId executableCode executable_code codeExecutionResult
  code_execution_result toolCall tool_call toolResponse tool_response displayName display_name functionCallingConfig
  function_calling_config allowedFunctionNames allowed_function_names cited_text document_title error_message stdout stderr transcript
  summary variables query queries snippet output_config output_format quote lines context server_description input_examples examples
  format definition syntax command env results is_error citations response parametersJsonSchema parameters_json_schema requests
  outputDimensionality output_dimensionality taskType task_type thinkingBudget thinking_budget thinkingLevel thinking_level
  responseMimeType response_mime_type googleSearchRetrieval google_search_retrieval dynamicRetrievalConfig dynamic_retrieval_config
  urlContext url_context googleMaps google_maps computerUse computer_use fileSearch file_search tool_configuration enabled
  context_management echo language thought signature thoughtSignature thought_signature encrypted_content headers labels
  disable_parallel_tool_use mode elicitationId notifications resourceSubscriptions status ttl toolUseId toolName
  access_token id_token token_type expires_in client_name client_uri logo_uri grant_types response_types token_endpoint_auth_method
  software_id software_statement jwks jwks_uri issuer authorization_endpoint token_endpoint registration_endpoint revocation_endpoint
  introspection_endpoint authorization_servers scopes_supported code_challenge_methods_supported response_types_supported
  grant_types_supported active sub aud iss exp
  quality size style chat_id
  custom_id input_file_id endpoint completion_window output_expires_after retry_interrupted
`;

/** Members that hold free-form data of callers and tools, whose names have no meaning in the protocol. */
const DATA = new Set(
  `metadata parameters input_schema inputSchema outputSchema schema requestedSchema properties $defs definitions logit_bias arguments
  args structuredContent response responseSchema response_schema responseJsonSchema response_json_schema parametersJsonSchema
  parameters_json_schema labels headers variables attributes filters extra_body chat_template_kwargs experimental extensions _meta
  data`
    .trim()
    .split(/\s+/),
);

/** Members with free-form keys whose values belong to the protocol again. */
const NAMED = new Set(["inputRequests", "inputResponses"]);

/** No two of these are equal when case-folded. */
export const governedNames: ReadonlySet<string> = new Set(GOVERNED.trim().split(/\s+/));
const byFolding: ReadonlyMap<string, string> = new Map([...governedNames].map((name) => [folded(name), name]));

interface KnownName {
  readonly folding: string;
  /** The governed name that this name equals when case-folded, without being identical. */
  readonly pretends: string | null;
  /** Whether the member holds free-form data. */
  readonly holdsData: boolean;
  /** Whether the member holds an object with free-form keys and values of the protocol. */
  readonly holdsNamed: boolean;
  /** Unchanged by case folding: an object with only such names cannot have ambiguous ones. */
  readonly plain: boolean;
  /** As `plain`, for objects of the protocol, in which imitations of governed names are refused. */
  readonly plainInProtocol: boolean;
}

const known = new Map<string, KnownName>();
const MAX_KNOWN = 10_000;
const MAX_KNOWN_LENGTH = 64;

/** Classifies a name; cached, because the same few names occur in every call. */
export function knownName(name: string): KnownName {
  const kept = known.get(name);
  if (kept !== undefined) return kept;
  const folding = folded(name);
  const governed = governedNames.has(name);
  const plain = /^[a-z0-9_$.-]*$/.test(name);
  const found: KnownName = {
    folding,
    pretends: governed ? null : (byFolding.get(folding) ?? null),
    holdsData: DATA.has(name),
    holdsNamed: NAMED.has(name),
    plain,
    plainInProtocol: plain || governed,
  };
  if (name.length <= MAX_KNOWN_LENGTH) {
    // Callers must not fill the memory with names of their own.
    if (known.size >= MAX_KNOWN) known.clear();
    known.set(name, found);
  }
  return found;
}
