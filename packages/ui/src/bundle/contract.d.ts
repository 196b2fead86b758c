// Told apart from the code, so that a package can be built that uses it while it is built.

/** What a page holds, ready to stand in a `<script>` and a `<style>`. */
export interface Bundle {
  readonly script: string
  readonly style: string
}

/**
 * Bundles a page's script and style sheet, with the licences of the libraries in them.
 *
 * @param script path of the script's first module
 * @param style path of the style sheet
 */
export declare function bundle(script: string, style: string): Bundle
