import type { ProviderCodec } from "../conversation/codec.ts";
import { readConverseReply } from "./converse-reply.ts";
import { writeConverseRequest } from "./converse-request.ts";
import { ConverseStreamReader } from "./converse-stream.ts";
import { readConverseFault } from "./fault.ts";
import { sentSettings, textsOf } from "../sent-settings.ts";
import { isObject } from "../../kernel/json-value.ts";

/** Amazon Bedrock's Converse API; used with providers only. */
export const converseCodec: ProviderCodec = {
  format: "converse",
  signs: true,
  needsMediaBytes: true,
  writeRequest: writeConverseRequest,
  sentSettings: ({ inferenceConfig: config, system }) =>
    sentSettings(isObject(config) ? config.temperature : null, isObject(config) ? config.maxTokens : null, textsOf(system)),
  readReply: readConverseReply,
  streamReader: () => new ConverseStreamReader(),
  readFault: readConverseFault,
};
