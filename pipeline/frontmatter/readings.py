from pipeline.frontmatter.fast import UNSURE, read_fast
from pipeline.frontmatter.strict import read_strict
def read_yaml(text):
    return read_strict(text) if UNSURE.search(text) else read_fast(text)
