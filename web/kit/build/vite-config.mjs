import { fileURLToPath } from "node:url";
import tailwind from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";

const WEB = fileURLToPath(new URL("../..", import.meta.url));

/** Shared by all apps. Turns off what the content security policy forbids: inlined assets and the preload polyfill. */
export function viteConfig({ app, outDir, watch = false }) {
  return {
    configFile: false,
    root: `${WEB}${app}`,
    base: `/${app === "reference" ? "docs" : app}/`,
    logLevel: "warn",
    plugins: [react(), tailwind()],
    define: { __BUILD__: JSON.stringify(watch ? String(Date.now()) : "") },
    build: {
      outDir,
      emptyOutDir: true,
      target: "es2023",
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
      reportCompressedSize: false,
      chunkSizeWarningLimit: 2_000,
      minify: !watch,
      manifest: true,
    },
  };
}
