import { fakeVendor } from "./fake-vendor.ts";

/** A PNG of one pixel. */
export const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/** As long as a detailed 4K image in base64. */
export const LARGE = "A".repeat(24 * 1024 * 1024);

/** Google's and Amazon's image models, implemented from their documentation: the prompt selects the answer. */
export function startPainters() {
  return fakeVendor(({ path, body }) => {
    const asked = JSON.parse(body);
    if (path.includes("/model/")) {
      const { textToImageParams, imageGenerationConfig } = asked;
      if (textToImageParams.text.includes("forbidden"))
        return Response.json({ images: [], error: "This request has been blocked by our content filters." });
      return Response.json({ images: Array(imageGenerationConfig.numberOfImages).fill(PIXEL), error: null });
    }
    if (path.includes(":predict")) {
      const { prompt } = asked.instances[0];
      if (prompt.includes("forbidden")) return Response.json({ predictions: [{ raiFilteredReason: "filtered" }] });
      return Response.json({
        predictions: Array.from({ length: asked.parameters.sampleCount }, () => ({ bytesBase64Encoded: PIXEL, mimeType: "image/png" })),
      });
    }
    const parts = asked.contents[0].parts as { text?: string }[];
    const declines = parts.some(({ text }) => text?.includes("forbidden"));
    const data = parts.some(({ text }) => text?.includes("detail")) ? LARGE : PIXEL;
    const answer = declines ? [{ text: "I would rather not." }] : [{ text: "Here:" }, { inlineData: { mimeType: "image/png", data } }];
    return Response.json({
      candidates: [{ content: { role: "model", parts: answer }, finishReason: "STOP", index: 0 }],
      usageMetadata: {
        promptTokenCount: 8,
        candidatesTokenCount: declines ? 5 : 1_120,
        totalTokenCount: 1_128,
        promptTokensDetails: [{ modality: "TEXT", tokenCount: 8 }],
        ...(!declines && { candidatesTokensDetails: [{ modality: "IMAGE", tokenCount: 1_120 }] }),
      },
    });
  });
}
