import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";

// `npm run dev` serves the page itself and hands the API's requests on to a hango that runs.
const HANGO_URL = process.env.HANGO_URL ?? "http://127.0.0.1:8600";

export default defineConfig({
  base: "/admin/",
  plugins: [react()],
  build: {
    outDir: "dist",
    assetsDir: "assets",
    // Everything in files of its own: the page's Content-Security-Policy allows nothing inline.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target: "es2023",
  },
  server: {
    proxy: { "/v1": { target: HANGO_URL }, "/docs": { target: HANGO_URL } },
  },
  test: {
    restoreMocks: true,
    projects: [
      // Decisions know no DOM, and need not wait for one.
      { extends: true, test: { name: "decisions", include: ["src/**/*.test.ts"] } },
      {
        extends: true,
        test: {
          name: "views",
          include: ["src/**/*.test.tsx"],
          environment: "jsdom",
          testTimeout: 20_000,
          setupFiles: ["src/test/setup.ts"],
          css: { modules: { classNameStrategy: "non-scoped" } },
        },
      },
    ],
  },
});
