/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the syntax tree of a SystemRDL file as nested lists of JSON: [type, text] of a leaf, [type, child...] of others.
   The grammar is tree-sitter-systemrdl's. Exit 1: the file has a syntax error. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tree_sitter/api.h>

const TSLanguage* tree_sitter_systemrdl(void);

static void quote(const char* text, size_t length) {
  putchar('"');
  for (size_t i = 0; i < length; ++i) {
    const unsigned char c = (unsigned char)text[i];
    if (c == '"' || c == '\\') printf("\\%c", c);
    else if (c < 32) printf("\\u%04x", c);
    else putchar(c);
  }
  putchar('"');
}

static void print(TSNode node, const char* text) {
  const uint32_t children = ts_node_child_count(node);
  const char* type = ts_node_type(node);
  putchar('[');
  quote(type, strlen(type));
  if (children == 0) {
    putchar(',');
    quote(text + ts_node_start_byte(node), ts_node_end_byte(node) - ts_node_start_byte(node));
  }
  for (uint32_t i = 0; i < children; ++i) {
    putchar(',');
    print(ts_node_child(node, i), text);
  }
  putchar(']');
}

int main(int argc, char** argv) {
  FILE* file = argc == 2 ? fopen(argv[1], "rb") : NULL;
  if (!file) {
    fprintf(stderr, "usage: rdl_tree FILE.rdl\n");
    return 3;
  }
  char* text = NULL;
  size_t size = 0, got = 0;
  do {
    text = realloc(text, size += 1 << 16);
    if (!text) return 3;
    got += fread(text + got, 1, size - got, file);
  } while (got == size);
  fclose(file);
  TSParser* parser = ts_parser_new();
  if (!ts_parser_set_language(parser, tree_sitter_systemrdl())) return 3;
  TSTree* tree = ts_parser_parse_string(parser, NULL, text, (uint32_t)got);
  const TSNode root = ts_tree_root_node(tree);
  print(root, text);
  putchar('\n');
  return ts_node_has_error(root) ? 1 : 0;
}
