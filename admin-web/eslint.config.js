import { readdirSync } from "node:fs";
import { createNodeResolver, importX } from "eslint-plugin-import-x";
import hooks from "eslint-plugin-react-hooks";
import tseslint from "typescript-eslint";

const LAYERS = ["lib", "ui", "api", "features", "routes", "app"];

/** What each layer must not import: itself downwards is fine, and lib, ui and api stand alone. */
const FORBIDDEN = {
  lib: ["ui", "api", "features", "routes", "app"],
  ui: ["api", "features", "routes", "app"],
  api: ["ui", "features", "routes", "app"],
  features: ["routes", "app"],
  routes: ["app"],
};

const zones = Object.entries(FORBIDDEN).map(([target, from]) => ({
  target: `./src/${target}`,
  from: from.map((each) => `./src/${each}`),
  message: `Imports go ${LAYERS.toReversed().join(" → ")}.`,
}));

const features = readdirSync(new URL("./src/features", import.meta.url)).map((name) => ({
  target: `./src/features/${name}`,
  from: "./src/features",
  except: [`./${name}`],
  message: "Features do not import each other: a route puts them together.",
}));

export default tseslint.config(
  { ignores: ["dist", "src/api/schema.d.ts"] },
  { files: ["**/*.{ts,tsx}"], extends: [tseslint.configs.strictTypeChecked] },
  {
    files: ["**/*.{ts,tsx}"],
    plugins: { "import-x": importX, "react-hooks": hooks },
    languageOptions: { parserOptions: { projectService: true } },
    settings: {
      "import-x/resolver-next": [createNodeResolver({ extensions: [".ts", ".tsx", ".js"] })],
    },
    rules: {
      ...hooks.configs.recommended.rules,
      "import-x/no-restricted-paths": ["error", { zones: [...zones, ...features] }],
      "import-x/no-cycle": "error",
      "no-restricted-globals": ["error", { name: "fetch", message: "Only src/api talks HTTP." }],
      "no-restricted-syntax": [
        "error",
        {
          selector: "JSXAttribute[name.name='dangerouslySetInnerHTML']",
          message: "All content is shown as text.",
        },
      ],
      "@typescript-eslint/restrict-template-expressions": ["error", { allowNumber: true }],
      "@typescript-eslint/consistent-type-imports": "error",
      "@typescript-eslint/no-confusing-void-expression": ["error", { ignoreArrowShorthand: true }],
    },
  },
  {
    files: ["src/api/client.ts", "src/**/*.test.{ts,tsx}", "src/test/**"],
    rules: { "no-restricted-globals": "off" },
  },
);
