import type { ProviderCodec } from "../conversation/codec.ts";
import { readConverseReply } from "./converse-reply.ts";
import { writeConverseRequest } from "./converse-request.ts";
import { ConverseStreamReader } from "./converse-stream.ts";
import { readConverseFault } from "./fault.ts";

/** Amazon Bedrock's Converse API: a format only providers speak here. */
export const converseCodec: ProviderCodec = {
  format: "converse",
  signs: true,
  needsMediaBytes: true,
  writeRequest: writeConverseRequest,
  readReply: readConverseReply,
  streamReader: () => new ConverseStreamReader(),
  readFault: readConverseFault,
};
